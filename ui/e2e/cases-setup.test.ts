/** The acceptance cases of onboarding; the tests carry their numbers. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { emptyHome } from "../core/seeds.ts";
import { leftInEnglish, pick, say } from "./actions";
import { Stage, asked, close, restart, settled } from "./stage";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterAll(() => stage.end());

const step = (name: string): string => `onboarding-step-${name}`;

describe("setting up", () => {
  it("1. for the first time with no model: a full-window setup in the system language, and nothing else but language and quit", async () => {
    const page = await stage.open({ scene: "first-run", system: "zh-CN" });
    expect(await page.evaluate(() => document.documentElement.lang)).toBe("zh-CN");
    expect(await leftInEnglish(page)).toEqual([]);
    const { width, height } = await page.locator(".wizard").evaluate((element) => element.getBoundingClientRect());
    expect([width, height]).toEqual([1280, 800]);
    const keys = ["k", "n", "b", "j", "t", ",", "/", "1", "Shift+f"].map((key) => `Control+${key}`);
    for (const key of [...keys, "?", "Escape", "Escape"]) {
      // In a text field the key types a character.
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      await page.keyboard.press(key);
    }
    await settled(page);
    await expect
      .poll(() => page.locator(".app, dialog[open], :popover-open, [data-testid=session-list]").count())
      .toBe(0);
    await expect.poll(() => page.getByTestId("welcome").isVisible()).toBe(true);
    await page.locator(".wiz-rail-foot button").first().click();
    await pick(page, "English");
    await page.waitForSelector('html[lang="en"]');
    await close(page);

    const closing = await stage.open({ scene: "first-run", query: "&closing" });
    await closing.getByTestId("closing-quit").click();
    await expect.poll(() => asked(closing, "quit")).toHaveLength(1);
    await close(closing);
  });

  it("2. switching the language changes every visible label at once without losing typed values", async () => {
    const page = await stage.open({ scene: "first-run" });
    const typed: Record<string, Record<string, string>> = {
      model: { "model-url": "https://models.example/v1", "model-name": "own-7b", "model-key": "sk-typed" },
      persona: { "onboarding-name": "Juno", "onboarding-own-manner": "Dry wit", "onboarding-about": "I keep bees." },
      place: { "onboarding-folder": "/home/mei/bees" },
    };
    await page.getByTestId("model-provider-custom").click();
    for (const [name, fields] of Object.entries(typed)) {
      await page.getByTestId(step(name)).click();
      if (name === "persona") await page.getByTestId("onboarding-manner-own").click();
      for (const [field, text] of Object.entries(fields)) await page.getByTestId(field).fill(text);
      await page.keyboard.press("Escape");
      await page.locator(".wiz-rail-foot button").first().click();
      await pick(page, "中文");
      await page.waitForSelector('html[lang="zh-CN"]');
      await settled(page);
      expect(await leftInEnglish(page), name).toEqual([]);
      for (const [field, text] of Object.entries(fields)) {
        await expect.poll(() => page.getByTestId(field).inputValue(), { message: field }).toBe(text);
      }
      await page.locator(".wiz-rail-foot button").first().click();
      await pick(page, "English");
      await page.waitForSelector('html[lang="en"]');
    }
    await close(page);
  });

  it("4. Test with a wrong key: a readable reason, the form keeps its values, and nothing is saved", async () => {
    const { page, core } = await stage.openReal(emptyHome);
    await core.replies({ error: { status: 401, name: "authentication_error", message: "invalid x-api-key" } });
    await page.getByTestId("model-provider-custom").click();
    await page.getByTestId("model-url").fill(core.modelUrl);
    await page.getByTestId("model-name").fill("claude-sonnet-4-5");
    await page.getByTestId("model-key").fill("wrong");
    await page.getByTestId("model-test").click();
    const result = page.getByTestId("model-result");
    await page.waitForSelector('[data-testid="model-result"][data-check="fails"]');
    await expect.poll(() => result.innerText()).toContain(say("error.model.test.auth"));
    await expect.poll(() => page.getByTestId("model-key").inputValue()).toBe("wrong");
    await expect.poll(() => page.getByTestId("model-name").inputValue()).toBe("claude-sonnet-4-5");
    await expect.poll(() => page.locator("[data-step]").getAttribute("data-step")).toBe("model");
    await expect.poll(() => asked(page, "save_model")).toEqual([]);
    // The draft stored for the next start contains no key.
    await expect.poll(async () => JSON.stringify(await asked(page, "change_settings"))).toContain("claude-sonnet-4-5");
    expect(JSON.stringify(await asked(page, "change_settings"))).not.toContain("wrong");
    await core.restart();
    await restart(page);
    await expect.poll(() => page.getByTestId("model-key").inputValue()).toBe("");
    await page.getByTestId(step("first")).click();
    await expect.poll(() => page.locator(".wiz-body").innerText()).toContain(say("new.no_model"));
    await close(page);
  });

  it("8. every optional step skipped: a usable session opens with default SOUL and USER profiles", async () => {
    const page = await stage.open({ scene: "first-run" });
    await page.getByTestId("model-key").fill("sk-right");
    await page.getByTestId("model-test").click();
    for (const name of ["persona", "browser", "skills", "place"]) {
      await page.locator(`[data-step="${name}"]`).waitFor();
      await page.getByTestId("onboarding-next").click();
    }
    await page.locator('[data-step="first"]').waitFor();
    await page.getByTestId("onboarding-next").click();
    await page.getByTestId("new-folder").fill("/home/mei/bees");
    await page.getByTestId("composer").fill("How many hives are there?");
    await page.keyboard.press("Enter");
    await page.getByTestId("user-message").waitFor();
    await expect.poll(() => asked(page, "save_persona")).toEqual([]);
    await page.getByTestId("open-memory").click();
    await page.locator('[data-kind="soul"]').first().click();
    const detail = page.getByTestId("persona-detail");
    await expect.poll(() => detail.innerText()).toContain("You are Octo.");
    await expect.poll(() => page.locator(".inspector-head").innerText()).toContain(say("persona.standard"));
    await page.locator('[data-kind="user"]').first().click();
    await expect.poll(() => detail.innerText()).toContain(say("persona.user.nothing"));
    await close(page);
  });

  it("10. other agents' skill folders: listed by source with checkboxes and conflicts, and only what is ticked is imported", async () => {
    const page = await stage.open({ scene: "first-run" });
    await page.getByTestId(step("skills")).click();
    const source = (agent: string) => page.locator(`[data-testid="other-source"][data-agent="${agent}"]`);
    await source("claude").waitFor();
    await expect.poll(() => source("claude").innerText()).toContain("~/.claude/skills");
    await expect.poll(() => source("codex").innerText()).toContain("~/.codex/skills");
    const skill = (name: string) => page.locator(`[data-testid="other-skill"][data-skill="${name}"]`);
    const boxes = page.getByTestId("other-skill").getByRole("checkbox");
    for (const box of await boxes.all()) await expect.poll(() => box.getAttribute("aria-checked")).toBe("false");
    await expect.poll(() => skill("broken-one").getByRole("checkbox").isDisabled()).toBe(true);
    // Existing skills are marked, and the person chooses how to handle each.
    await expect.poll(() => skill("release-notes").innerText()).toContain(say("onboarding.skills.name_exists"));
    await skill("release-notes").getByRole("checkbox").click();
    const kept = await page.getByTestId("other-conflict-keep").getAttribute("aria-pressed");
    const renamed = await page.getByTestId("other-conflict-rename").getAttribute("aria-pressed");
    expect([kept, renamed]).toContain("true");
    await page.getByTestId("other-conflict-rename").click();
    await skill("plan").getByRole("checkbox").click();
    await page.getByTestId("other-import").click();
    const note = page.locator(".wiz-note-line");
    await note.waitFor();
    await expect.poll(() => note.innerText()).toContain("/release-notes-2");
    await expect.poll(() => note.innerText()).toContain("/plan");
    const sent = await asked(page, "import_skills");
    expect(JSON.stringify(sent)).not.toMatch(/changelog|pdf-forms/);
    await page.getByTestId("onboarding-skip-rest").click();
    await page.getByTestId("open-skills").click();
    await page.locator('[data-skill="release-notes"]').first().waitFor();
    await expect.poll(() => page.locator('[data-testid="skill-row"][data-skill="release-notes-2"]').count()).toBe(1);
    await expect.poll(() => page.locator('[data-testid="skill-row"][data-skill="changelog"]').count()).toBe(0);
    await close(page);
  });

  it("11. browser setup without a supported browser: names what is missing, and offers retry, help and skip", async () => {
    const page = await stage.open({ scene: "first-run", query: "&no-browsers" });
    await page.getByTestId(step("browser")).click();
    const none = page.getByTestId("onboarding-no-browser");
    await none.waitFor();
    await expect.poll(() => none.innerText()).toContain(say("onboarding.browser.none"));
    await expect.poll(() => none.innerText()).toContain(say("onboarding.browser.none_sub"));
    const looked = (await asked(page, "find_browsers")).length;
    await none.getByRole("button", { name: say("browser.look_again") }).click();
    await expect.poll(async () => (await asked(page, "find_browsers")).length).toBe(looked + 1);
    await none.getByRole("button", { name: say("onboarding.browser.help") }).click();
    const check = page.getByTestId("browser-check-installed");
    await check.waitFor();
    await expect.poll(() => check.getAttribute("data-result")).toBe("broken");
    await expect.poll(() => check.innerText()).toContain(say("error.browser.none_installed"));
    await page.getByTestId("onboarding-next").click();
    await page.locator('[data-step="skills"]').waitFor();
    await close(page);
  });
});

it("nothing wrote an error or a warning to its console", () => {
  expect(stage.faults).toEqual([]);
});
