/** The acceptance cases of the message field: queue, attachments, commands and suggestions. They run on the real core. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PageCore } from "../core/bridge.ts";
import { finished, readyHome, working } from "../core/seeds.ts";
import { dropFile, pasteScreenshot, say, settings } from "./actions";
import { Stage, asked, close, settled, untilFocused } from "./stage";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterAll(() => stage.end());

describe("the message field", () => {
  it("16. messages sent while the agent works are queued, counted, and can be edited or removed", async () => {
    const { page } = await stage.openReal(working);
    await untilFocused(page, "composer");
    for (const text of ["First the tests", "Then the notes", "Then the rest"]) {
      await page.keyboard.type(text);
      await page.keyboard.press("Enter");
      await page.getByTestId("queue").getByText(text).waitFor();
    }
    const queue = page.getByTestId("queue");
    const rows = page.getByTestId("queue-row");
    await expect.poll(() => rows.count()).toBe(3);
    await expect.poll(() => queue.innerText()).toContain(say("queue.count.other", { n: 3 }));
    await expect.poll(() => page.getByTestId("stop").isVisible()).toBe(true);
    await rows
      .nth(1)
      .getByRole("button", { name: say("queue.edit") })
      .click();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("Then the release notes");
    await page.keyboard.press("Enter");
    await rows.nth(1).getByText("Then the release notes").waitFor();
    await rows
      .nth(0)
      .getByRole("button", { name: say("queue.remove") })
      .click();
    await expect.poll(() => rows.count()).toBe(2);
    await expect.poll(() => queue.innerText()).toContain(say("queue.count.other", { n: 2 }));
    await expect.poll(() => queue.innerText()).not.toContain("First the tests");
    await close(page);
  });

  it("17. Stop halts the run within three seconds, partial work stays, and queued messages wait for a decision", async () => {
    const { page } = await stage.openReal(working);
    await untilFocused(page, "composer");
    await page.keyboard.type("And then the notes");
    await page.keyboard.press("Enter");
    await page.getByTestId("queue-row").waitFor();
    const partial = await page.getByTestId("answer").last().innerText();
    expect(partial).toContain("One part is still doubled");
    const began = Date.now();
    await page.keyboard.press("Escape");
    await page.locator('[data-testid="turn-end"][data-end="stopped"]').waitFor();
    expect(Date.now() - began).toBeLessThan(3_000);
    await expect.poll(() => page.getByTestId("stop").count()).toBe(0);
    await expect.poll(() => page.getByTestId("answer").last().innerText()).toContain("One part is still doubled");
    const queue = page.getByTestId("queue");
    await expect.poll(() => queue.innerText()).toContain(say("queue.waits"));
    await expect.poll(() => queue.innerText()).toContain("And then the notes");
    await settled(page);
    const said = page.getByTestId("user-message");
    await expect.poll(() => said.filter({ hasText: "And then the notes" }).count()).toBe(0);
    // The attachment is sent with the next message unless it is removed.
    await page.getByTestId("composer").fill("Go on");
    await page.keyboard.press("Enter");
    await queue.waitFor({ state: "detached" });
    const words = async (): Promise<(string | undefined)[]> =>
      (await said.allInnerTexts()).slice(-2).map((text) => /And then the notes|Go on/.exec(text)?.[0]);
    await expect.poll(words).toEqual(["And then the notes", "Go on"]);
    await close(page);
  });

  it("31. a pasted screenshot appears as a thumbnail, goes along with the message, and can be removed before", async () => {
    const { page, core } = await stage.openReal(readyHome);
    await page.getByTestId("new-folder").fill(core.folder);
    await pasteScreenshot(page);
    const attached = page.getByTestId("attachment");
    await attached.waitFor();
    const width = (): Promise<number> =>
      attached.locator("img").evaluate((image: HTMLImageElement) => image.naturalWidth);
    await expect.poll(width).toBe(64);
    await attached.getByRole("button").click();
    await expect.poll(() => attached.count()).toBe(0);
    await untilFocused(page, "composer");
    await pasteScreenshot(page);
    await attached.waitFor();
    await page.keyboard.type("What is this?");
    await page.keyboard.press("Enter");
    const message = page.getByTestId("user-message");
    await message.locator("img").waitFor();
    const [sent] = await asked(page, "start_session");
    const kinds = (sent?.["blocks"] as { type: string; blob?: string }[]).map(({ type }) => type);
    expect(kinds).toEqual(["text", "image"]);
    const shown = message.locator("img").first();
    expect(await shown.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(64);
    await close(page);
  });

  it("32. an unsupported or oversized file is refused in words that name the file, the limit and accepted types", async () => {
    const { page } = await stage.openReal(readyHome);
    const said = page.getByTestId("toast");
    await dropFile(page, { name: "talk.mov", type: "video/quicktime", bytes: 10 });
    await said.filter({ hasText: "talk.mov" }).waitFor();
    await dropFile(page, { name: "wall.png", type: "image/png", bytes: 20 * 1024 * 1024 + 1 });
    await said.filter({ hasText: "wall.png" }).waitFor();
    const words = await said.allInnerTexts();
    expect(words).toHaveLength(2);
    for (const text of words) {
      expect(text).toContain("20 MiB");
      for (const kind of ["PNG", "JPEG", "GIF", "WebP"]) expect(text).toContain(kind);
    }
    await expect.poll(() => page.getByTestId("attachment").count()).toBe(0);
    await close(page);
  });

  it("34. an unknown slash command is said to be one here, with near names and without calling a model", async () => {
    const { page } = await stage.openReal(finished);
    await page.getByTestId("user-message").waitFor();
    const before = await page.getByTestId("user-message").count();
    await page.getByTestId("composer").fill("/hlep");
    await page.keyboard.press("Enter");
    const note = page.locator('.t-row [role="status"]').last();
    await expect.poll(() => note.innerText()).toContain("/hlep");
    const [unknown = "", near = ""] = say("error.command.unknown_near", { name: "hlep" }).split("{near}");
    const text = await note.innerText();
    expect(text).toContain(unknown);
    expect(text).toContain("/help");
    expect(text.trim().endsWith(near)).toBe(true);
    await expect.poll(() => page.getByTestId("stop").count()).toBe(0);
    await expect.poll(() => page.getByTestId("user-message").count()).toBe(before);
    await close(page);
  });

  it("35. Tab accepts a suggestion, typing hides it, and a setting turns it off entirely", async () => {
    const text = "Ask the shop for the orders of 3 November after noon";
    const suggesting = async (core: PageCore): Promise<void> => {
      await finished(core);
      const { id } = await core.addModel("qwen3-30b");
      await core.request({ domain: "models", call: { type: "choose_light_model", model: id } });
      await core.request({ domain: "app", call: { type: "change_settings", patch: { suggestions: "on" } } });
    };
    const { page, core } = await stage.openReal(suggesting);
    await core.replies({ parts: [{ text: "Three orders have no customer." }] }, { parts: [{ text }] });
    await page.getByTestId("composer").fill("And which do not match?");
    await page.keyboard.press("Enter");
    const composer = page.getByTestId("composer");
    await untilFocused(page, "composer");
    await expect.poll(() => composer.getAttribute("placeholder")).toBe(text);
    await page.keyboard.type("N");
    await expect.poll(() => composer.getAttribute("placeholder")).not.toBe(text);
    await expect.poll(() => page.getByTestId("suggestion-use").count()).toBe(0);
    await page.keyboard.press("Backspace");
    await expect.poll(() => composer.getAttribute("placeholder")).toBe(text);
    await page.keyboard.press("Tab");
    await expect.poll(() => composer.inputValue()).toBe(text);
    await untilFocused(page, "composer");
    await expect.poll(() => asked(page, "send")).toHaveLength(1);
    await composer.fill("");

    await settings(page, "behaviour");
    const toggle = page.getByTestId("suggestions");
    await expect.poll(() => toggle.getAttribute("aria-checked")).toBe("true");
    await toggle.click();
    await expect.poll(() => toggle.getAttribute("aria-checked")).toBe("false");
    await page.getByTestId("settings-back").click();
    await composer.waitFor();
    await settled(page);
    await expect.poll(() => composer.getAttribute("placeholder")).not.toBe(text);
    await expect.poll(() => page.getByTestId("suggestion").innerText()).toBe("");
    await close(page);
  });
});

it("nothing wrote an error or a warning to its console", () => {
  expect(stage.faults).toEqual([]);
});
