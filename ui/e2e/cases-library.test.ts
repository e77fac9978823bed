/** The acceptance cases of stored things: the trash, skills, memories, the persona, and the proxy. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { say, settings } from "./actions";
import { Stage, asked, close } from "./stage";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterAll(() => stage.end());

/** Opens the trash with a file whose original path is taken by another one. */
async function taken(): Promise<Page> {
  const page = await stage.open({ scene: "main" });
  await page.getByTestId("open-trash").click();
  const row = page.getByTestId("trash-row").filter({ hasText: "retry_old.rs" });
  await row.getByRole("checkbox").click();
  return page;
}

const undo = (page: Page) => page.getByTestId("toast").getByRole("button", { name: say("toast.undo") });

describe("what is kept", () => {
  it("47. a deleted file whose path exists again is restored as the person chooses: replace, keep both, or another place", async () => {
    for (const [button, choice] of [
      ["trash-replace", "replace"],
      ["trash-keep-both", "keep_both"],
    ] as const) {
      const page = await taken();
      await page.getByTestId("trash-restore").click();
      const dialog = page.locator('[data-testid="trash-dialog"][open]');
      await dialog.waitFor();
      await expect.poll(() => dialog.innerText()).toContain("retry_old.rs");
      await dialog.getByTestId(button).click();
      await expect.poll(() => page.getByTestId("trash-row").filter({ hasText: "retry_old.rs" }).count()).toBe(0);
      const calls = (await asked(page, "restore_trash")).map(({ on_conflict }) => on_conflict);
      expect(calls).toEqual(["ask", choice]);
      await close(page);
    }
    const page = await taken();
    await page.getByTestId("trash-restore-to").first().click();
    await expect.poll(() => page.getByTestId("trash-row").filter({ hasText: "retry_old.rs" }).count()).toBe(0);
    expect((await asked(page, "restore_trash")).at(-1)).toMatchObject({ to: "/home/mei/code/picked" });
    await close(page);
  });

  it("53. an imported skill shows files, scripts and permissions first, and an existing one is never replaced silently", async () => {
    const page = await stage.open({ scene: "main" });
    await page.getByTestId("open-skills").click();
    await page.getByTestId("import-open").click();
    await page.getByTestId("import-source").fill("https://github.com/example/skills");
    await page.keyboard.press("Enter");
    const offered = page.getByTestId("import-skill");
    await offered.first().waitFor();
    const words = (await offered.allInnerTexts()).join("\n");
    expect(words).toContain("SKILL.md");
    expect(words).toMatch(/scripts\//);
    expect(words).toContain(say("skills.tools"));
    expect(words).toContain(say("skills.commands"));
    await expect.poll(() => asked(page, "install_skills")).toEqual([]);
    // The skill that already exists says so, shows the differences and is not preselected.
    const mine = page.locator('[data-testid="import-skill"]').filter({ hasText: say("skills.replaces") });
    await expect.poll(() => mine.count()).toBe(1);
    const name = await mine.getAttribute("data-skill");
    await expect.poll(() => mine.locator(".diff").isVisible()).toBe(true);
    const box = mine.getByRole("checkbox");
    await expect.poll(() => box.getAttribute("aria-checked")).toBe("false");
    await box.click();
    await expect
      .poll(() => page.locator(".inspector-foot").innerText())
      .toContain(say("skills.import_replaces.one", { n: 1 }));
    await box.click();
    await page.getByTestId("import-install").click();
    await expect.poll(() => asked(page, "install_skills")).toHaveLength(1);
    const [sent] = await asked(page, "install_skills");
    expect(sent?.["names"]).not.toContain(name);
    await close(page);
  });

  it("55. a deleted memory and an edited SOUL or USER change at once, can be taken back, and are what new sessions begin with", async () => {
    const page = await stage.open({ scene: "main" });
    await page.getByTestId("open-memory").click();
    const memory = page.locator('[data-testid="memory-row"][data-file="rust-style.md"]');
    await memory.click();
    await page.getByTestId("memory-delete").click();
    await expect.poll(() => memory.count()).toBe(0);
    await undo(page).click();
    await expect.poll(() => memory.count()).toBe(1);

    for (const [kind, before] of [
      ["soul", "You are Octo."],
      ["user", "Mei, in Taipei."],
    ] as const) {
      await page.locator(`[data-testid="persona-row"][data-kind="${kind}"]`).click();
      const shown = page.locator(".memory-text");
      await expect.poll(() => shown.innerText()).toContain(before);
      await page.getByTestId("persona-edit").click();
      await page.getByTestId("persona-text").fill("Dry, and short.");
      await page.getByTestId("persona-save").click();
      await expect.poll(() => shown.innerText()).toContain("Dry, and short.");
      const file = say(`persona.${kind}`);
      const saved = page.getByTestId("toast").filter({ hasText: say("persona.saved", { file }) });
      await saved.getByRole("button", { name: say("toast.undo") }).click();
      await expect.poll(() => shown.innerText()).toContain(before);
      await expect.poll(() => shown.innerText()).not.toContain("Dry, and short.");
      // The removal can be undone.
      await saved.getByRole("button", { name: say("toast.undo") }).click();
      await expect.poll(() => shown.innerText()).toContain("Dry, and short.");
    }
    await close(page);
  });

  it("59. a proxy is proved by its test button, and a bad one gives a clear error", async () => {
    const page = await stage.open({ scene: "main" });
    await settings(page, "models");
    const test = page.getByTestId("proxy-test");
    await test.scrollIntoViewIfNeeded();
    await test.click();
    await page.getByText(say("settings.proxy_works", { host: "github.com" })).waitFor();
    await page.getByTestId("proxy-manual").click();
    // Editing the proxy discards the previous check result.
    await expect.poll(() => page.getByText(say("settings.proxy_works", { host: "github.com" })).count()).toBe(0);
    await expect.poll(() => test.isDisabled()).toBe(true);
    await page.getByTestId("proxy-address").fill("http://nowhere.example:3128");
    await test.click();
    const error = page.getByRole("alert").filter({ hasText: "github.com" });
    await error.waitFor();
    await expect.poll(() => error.innerText()).toBe(say("error.settings.proxy_not_tried", { host: "github.com" }));
    // Testing a proxy does not save it.
    await expect.poll(() => asked(page, "change_settings")).toEqual([]);
    await page.keyboard.press("Tab");
    await page.getByTestId("proxy-address").press("Enter");
    await expect
      .poll(() => asked(page, "change_settings"))
      .toMatchObject([{ patch: { proxy: { type: "manual", url: "http://nowhere.example:3128" } } }]);
    await close(page);
  });
});

it("nothing wrote an error or a warning to its console", () => {
  expect(stage.faults).toEqual([]);
});
