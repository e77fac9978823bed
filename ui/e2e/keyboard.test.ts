/** Keyboard use: everything is reachable, visible, and can be left and returned to. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pick, row, say } from "./actions";
import { Stage, close, focused, settled, untilFocused } from "./stage";
import { walk } from "./tab-walk";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterAll(() => stage.end());

/** `every.ts` checks that Tab reaches everything of every scene. */
describe("Tab", () => {
  it("walks with a check that would notice", async () => {
    const page = await stage.open({ scene: "new" });
    await page.evaluate(() => {
      const button = document.createElement("button");
      button.textContent = "unseen";
      button.style.outline = "none";
      button.addEventListener("focus", () => button.style.setProperty("outline", "none", "important"));
      document.querySelector("main")?.append(button);
    });
    const { unseen } = await walk(page);
    expect(unseen.join()).toContain("unseen");
    await close(page);
  });
});

describe("what opens", () => {
  it("gives the focus back: menus", async () => {
    const page = await stage.open({ scene: "main" });
    for (const id of ["status-mode", "status-model"]) {
      await page.getByTestId(id).focus();
      await page.keyboard.press("Enter");
      await expect.poll(() => page.evaluate(() => document.activeElement?.matches(".menu-item"))).toBe(true);
      const first = await page.evaluate(() => document.activeElement?.textContent);
      await page.keyboard.press("ArrowDown");
      expect(await page.evaluate(() => document.activeElement?.textContent)).not.toBe(first);
      await page.keyboard.press("End");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Home");
      expect(await page.evaluate(() => document.activeElement?.matches(".menu-item"))).toBe(true);
      await page.keyboard.press("Escape");
      await untilFocused(page, id);
    }
    // The menu consumed Escape: the turn keeps running.
    await expect.poll(() => page.getByTestId("stop").isVisible()).toBe(true);
    await close(page);
  });

  it("gives the focus back: a row's menu", async () => {
    const page = await stage.open({ scene: "main" });
    const row = page.getByTestId("session-row").nth(1);
    await row.focus();
    await page.keyboard.press("Shift+F10");
    await expect.poll(() => page.evaluate(() => document.activeElement?.matches(".menu-item"))).toBe(true);
    await page.keyboard.press("Escape");
    await expect.poll(() => row.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press("ArrowDown");
    expect(
      await page
        .getByTestId("session-row")
        .nth(2)
        .evaluate((element) => element === document.activeElement),
    ).toBe(true);
    await close(page);
  });

  it("gives the focus back: dialogs", async () => {
    const page = await stage.open({ scene: "main" });
    await page.getByTestId("open-trash").click();
    const row = page.getByTestId("trash-row").first();
    await row.focus();
    await page.keyboard.press("Delete");
    await page.waitForSelector('[data-testid="trash-dialog"][open]');
    await page.keyboard.press("Escape");
    await expect.poll(() => row.evaluate((element) => element.contains(document.activeElement))).toBe(true);
    await page.getByTestId("open-settings").focus();
    await page.keyboard.press("Control+/");
    await page.waitForSelector('[data-testid="shortcuts"][open]');
    await page.keyboard.press("Escape");
    await untilFocused(page, "open-settings");
    await page.keyboard.press("?");
    await page.waitForSelector('[data-testid="shortcuts"][open]');
    await page.keyboard.press("Control+/");
    await untilFocused(page, "open-settings");
    await close(page);
  });

  it("gives the focus on where its button is gone", async () => {
    const page = await stage.open({ scene: "main" });
    await page.getByTestId("open-settings").click();
    await page.locator("[data-page=data]").first().click();
    await page.getByTestId("data-restore").press("Enter");
    await page.waitForSelector('[data-testid="copy-dialog"][open]');
    await page.keyboard.press("Escape");
    // The close event arrives after the focus has moved back: pressed before it, the button would open a dialog
    // that then closes.
    await page.waitForSelector('[data-testid="copy-dialog"]', { state: "detached" });
    await untilFocused(page, "data-restore");
    await page.keyboard.press("Enter");
    await page.getByTestId("copy-restore").press("Enter");
    await untilFocused(page, "data-restart");
    await page.getByTestId("data-plan-cancel").press("Enter");
    await untilFocused(page, "data-restore");
    await page.getByTestId("data-move").press("Enter");
    const described = () => page.evaluate(() => document.activeElement?.hasAttribute("aria-describedby"));
    await expect.poll(described).toBe(true);
    await page.keyboard.press("Enter");
    await untilFocused(page, "data-move");
    await page.keyboard.press("Control+j");
    const stops = page.getByTestId("activity-stop");
    await stops.last().waitFor();
    for (let left = await stops.count(); left > 1; left = await stops.count()) {
      await stops.first().focus();
      await page.keyboard.press("Enter");
      await expect.poll(() => stops.count()).toBeLessThan(left);
      if ((await stops.count()) > 0) await untilFocused(page, "activity-stop");
    }
    await close(page);
  });

  it("is the time machine, by Escape twice or its own keys", async () => {
    const page = await stage.open({ scene: "compacted" });
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.waitForSelector('[data-testid="time"]');
    await page.keyboard.press("Escape");
    await page.waitForSelector('[data-testid="time"]', { state: "detached" });
    await untilFocused(page, "composer");
    await page.keyboard.press("Control+t");
    await page.waitForSelector('[data-testid="time"]');
    await close(page);
  });
});

describe("an answer", () => {
  it("hands the focus on: to the next question, then to the message field", async () => {
    const page = await stage.open({ scene: "permission" });
    const questions = page.getByTestId("question");
    await expect.poll(() => questions.count()).toBe(2);
    await page.getByTestId("question-no").first().focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => questions.count()).toBe(1);
    await untilFocused(page, "question");
    await page.getByTestId("question-once").focus();
    await page.keyboard.press("Enter");
    await untilFocused(page, "composer");
    await close(page);
  });
});

describe("a message that is sent", () => {
  it("is seen, however far up one read", async () => {
    const page = await stage.open({ scene: "compacted", query: "&messages=400" });
    const log = page.getByTestId("transcript");
    await log.focus();
    for (let up = 0; up < 8; up += 1) await page.keyboard.press("PageUp");
    await expect.poll(() => log.getAttribute("data-following")).toBe("false");
    await page.getByTestId("composer").fill("And now the end of it");
    await page.keyboard.press("Enter");
    const sent = log.getByText("And now the end of it");
    await sent.waitFor();
    await settled(page);
    /** Returns how far below the log's end the message ends, in pixels. */
    const hidden = async (): Promise<number> => {
      const [at, room] = [await sent.boundingBox(), await log.boundingBox()];
      return at === null || room === null ? Infinity : at.y + at.height - room.y - room.height;
    };
    await expect.poll(hidden).toBeLessThanOrEqual(0);
    await expect.poll(() => log.getAttribute("data-following")).toBe("true");
    await close(page);
  });
});

describe("the palette", () => {
  const choices = (page: Page) => page.getByTestId("palette-choice");
  const chosen = (page: Page) => page.locator('[data-testid="palette-choice"][aria-selected="true"]');

  it("opens and closes by its keys and gives the focus back", async () => {
    const page = await stage.open({ scene: "main" });
    await untilFocused(page, "composer");
    await page.keyboard.press("Control+k");
    await untilFocused(page, "palette-input");
    await page.keyboard.press("Control+k");
    await untilFocused(page, "composer");
    await page.keyboard.press("Control+k");
    await untilFocused(page, "palette-input");
    await page.keyboard.press("Escape");
    await untilFocused(page, "composer");
    // The dialog consumed Escape and did not stop the turn.
    await expect.poll(() => page.getByTestId("stop").isVisible()).toBe(true);
    await close(page);
  });

  it("goes to sessions, messages, pages and settings", async () => {
    const page = await stage.open({ scene: "main" });
    await page.keyboard.press("Control+k");
    await page.getByTestId("palette-input").fill("Question 7:");
    await page.waitForSelector('[data-testid="palette-choice"][data-choice*=":"]');
    await page.locator('[data-choice*=":"]').first().click();
    await page.waitForSelector(".t-row[data-marked]");
    for (const [typed, where] of [
      ["trash", "trash"],
      ["rules", "settings"],
    ] as const) {
      await page.keyboard.press("Control+k");
      await page.getByTestId("palette-input").fill(typed);
      await expect.poll(() => chosen(page).innerText()).toMatch(new RegExp(typed, "i"));
      await page.keyboard.press("Enter");
      await page.waitForSelector(`[data-testid="${where}"]`);
    }
    await page.keyboard.press("Control+k");
    await page.getByTestId("palette-input").fill("flat list");
    await expect.poll(() => chosen(page).innerText()).toContain("flat");
    await page.keyboard.press("Enter");
    await page.waitForSelector('[data-testid="transcript"]');
    await close(page);
  });

  it("runs commands, also by scattered letters and a sign for commands only", async () => {
    const page = await stage.open({ scene: "main" });
    await page.keyboard.press("Control+k");
    await untilFocused(page, "palette-input");
    await page.keyboard.type(">thmdrk");
    await expect.poll(() => chosen(page).getAttribute("data-choice")).toBe("theme-dark");
    await page.keyboard.press("Enter");
    await page.waitForSelector('html[data-theme="dark"]');
    await page.keyboard.press("Control+k");
    await untilFocused(page, "palette-input");
    await page.keyboard.type(">stop");
    await expect.poll(() => chosen(page).getAttribute("data-choice")).toBe("stop");
    await page.keyboard.press("Enter");
    await page.waitForSelector('[data-testid="stop"]', { state: "detached" });
    await close(page);
  });

  it("is found in English where another language is read", async () => {
    const page = await stage.open({ scene: "main", language: "zh" });
    await page.keyboard.press("Control+k");
    await page.getByTestId("palette-input").fill("usage");
    await expect.poll(() => chosen(page).getAttribute("data-choice")).toBe("usage");
    await page.getByTestId("palette-input").fill("回收");
    await expect.poll(() => choices(page).first().getAttribute("data-choice")).toBe("trash");
    await close(page);
  });

  it("moves through its lines and says which one it is at", async () => {
    const page = await stage.open({ scene: "main" });
    await page.keyboard.press("Control+k");
    await untilFocused(page, "palette-input");
    const count = await choices(page).count();
    expect(count).toBeGreaterThan(8);
    for (let step = 0; step < count; step += 1) {
      const id = await page.getByTestId("palette-input").getAttribute("aria-activedescendant");
      await expect.poll(() => chosen(page).getAttribute("id")).toBe(id);
      await expect.poll(() => chosen(page).count()).toBe(1);
      await page.keyboard.press("ArrowDown");
    }
    // The selection wraps to the first; Up from there selects the last.
    await expect.poll(() => choices(page).first().getAttribute("aria-selected")).toBe("true");
    await page.keyboard.press("ArrowUp");
    await expect.poll(() => choices(page).last().getAttribute("aria-selected")).toBe("true");
    await expect.poll(() => choices(page).last().isVisible()).toBe(true);
    await close(page);
  });
});

describe("the window's keys", () => {
  it("do what the list of shortcuts says", async () => {
    const page = await stage.open({ scene: "main" });
    await page.keyboard.press("Control+Shift+f");
    await untilFocused(page, "search");
    await page.keyboard.press("Control+n");
    await page.waitForSelector('[data-testid="new-folder"]');
    await page.keyboard.press("Control+2");
    await page.waitForSelector('[data-testid="transcript"]');
    await page.keyboard.press("Control+b");
    await expect.poll(() => page.getByTestId("search").isVisible()).toBe(false);
    await page.keyboard.press("Control+b");
    await expect.poll(() => page.getByTestId("search").isVisible()).toBe(true);
    await page.keyboard.press("Control+,");
    await page.waitForSelector('[data-testid="settings"]');
    await expect.poll(() => focused(page)).not.toBe("composer");
    await close(page);
  });

  it("and a mouse's side buttons go back and forward through where one was, past what was deleted", async () => {
    const page = await stage.open({ scene: "main" });
    const at = (title: string) =>
      expect.poll(() => page.locator('[data-testid="session-row"][aria-current]').innerText()).toContain(title);
    for (const title of ["Resume uploads", "Rename photos", "Reply to the landlord"]) await row(page, title).click();
    await page.getByTestId("open-usage").click();
    await page.keyboard.press("Alt+ArrowLeft");
    await at("Reply to the landlord");
    // Also from a text field: Alt with an arrow key does not edit text here.
    await page.getByTestId("composer").focus();
    await page.keyboard.press("Alt+ArrowLeft");
    await at("Rename photos");
    await page.keyboard.press("Alt+ArrowRight");
    await at("Reply to the landlord");
    await row(page, "Rename photos").click({ button: "right" });
    await pick(page, say("session.delete"));
    await expect.poll(() => row(page, "Rename photos").count()).toBe(0);
    const side = (button: number): Promise<boolean> =>
      page.evaluate(
        // Dispatches the event a shell synthesises where the web view lacks these buttons. Returns whether the
        // default was prevented.
        (button) =>
          !document.body.dispatchEvent(new MouseEvent("mouseup", { button, bubbles: true, cancelable: true })),
        button,
      );
    expect(await side(3)).toBe(true);
    await at("Resume uploads");
    expect(await side(4)).toBe(true);
    await at("Reply to the landlord");
    await page.keyboard.press("Alt+ArrowRight");
    await expect.poll(() => page.getByTestId("open-usage").getAttribute("aria-current")).toBe("page");
    // There is no later page.
    await page.keyboard.press("Alt+ArrowRight");
    await expect.poll(() => page.getByTestId("open-usage").getAttribute("aria-current")).toBe("page");
    await page.keyboard.press("Control+/");
    const sheet = page.getByTestId("shortcuts");
    await expect.poll(() => sheet.innerText()).toContain(say("keys.back"));
    // An open overlay keeps its page.
    expect(await side(3)).toBe(true);
    await page.keyboard.press("Alt+ArrowLeft");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByTestId("open-usage").getAttribute("aria-current")).toBe("page");
    await close(page);
  });
});

it("nothing wrote an error or a warning to its console", () => {
  expect(stage.faults).toEqual([]);
});
