/** The scenes of the screenshots, and more that only keys open: each is a page, a dialog or a menu. */
import type { Page } from "playwright-core";
import { scenes as pictured } from "../scripts/pictures.mjs";
import { current, publishRuns, settings } from "./actions";
import { TurnScript, difference } from "./turn-script";

/** A recorded session to open and the actions that lead to the scene. */
export interface Scene {
  readonly fake: string;
  readonly query?: string;
  /** The window's size, if the scene has only one. */
  readonly size?: readonly [width: number, height: number];
  readonly act?: (page: Page) => Promise<void>;
}

/** Answer text that names files: in the folder, elsewhere, and as displayable and other pictures. */
export const OF_FILES = [
  "I drew it: see [the notes](notes/drawn.md), [`plot.py`](plot.py:12) and [all of it](.).",
  "- [The first](out/a.csv)\n- [The second](out/b.csv)\n- [On the network](//server/share/c.csv)",
  "![The uploads of a week](out/plot.png)",
  "![An older one](out/gone.png) ![A page](out/page.svg)",
].join("\n\n");

/** Adds an answer that names files, after a change. */
async function names(page: Page): Promise<void> {
  const model = await TurnScript.begin(page, await current(page), "Draw the uploads");
  await model.message();
  const edit = difference("/home/mei/code/harbor/plot.py", "week = 1", "week = 7");
  await model.ends(await model.call("edit", edit), "edit", edit, "done");
  await model.message();
  await model.block("text", OF_FILES);
  await page.locator(".md .shown img").waitFor();
}

const more: Record<string, Scene> = {
  palette: {
    fake: "main",
    async act(page) {
      await page.keyboard.press("Control+k");
      await page.waitForSelector('[data-testid="palette-choice"]');
    },
  },
  "palette-typed": {
    fake: "main",
    async act(page) {
      await page.keyboard.press("Control+k");
      await page.getByTestId("palette-input").fill("part");
      await page.waitForSelector('[data-testid="palette-choice"]');
    },
  },
  "palette-nothing": {
    fake: "main",
    async act(page) {
      await page.keyboard.press("Control+k");
      await page.getByTestId("palette-input").fill("zzzzzz");
      await page.waitForSelector(".palette-none");
    },
  },
  shortcuts: {
    fake: "main",
    async act(page) {
      await page.keyboard.press("Control+/");
      await page.waitForSelector('[data-testid="shortcuts"][open]');
    },
  },
  "folded-runs": {
    fake: "main",
    async act(page) {
      await publishRuns(page, "Morning brief", [{}, {}, { read_at: 0 }, { status: "failed", read_at: 0 }, {}]);
      await page.getByTestId("runs-row").waitFor();
    },
  },
  "session-menu": {
    fake: "main",
    async act(page) {
      await page.getByTestId("session-row").first().click({ button: "right" });
      await page.waitForSelector("#session-menu .menu-item");
    },
  },
  "trash-dialog": {
    fake: "main",
    async act(page) {
      await page.getByTestId("open-trash").click();
      await page.getByTestId("trash-row").first().focus();
      await page.keyboard.press("Delete");
      await page.waitForSelector('[data-testid="trash-dialog"][open]');
    },
  },
  "chats-lost": { fake: "main", query: "&chat=lost", act: (page) => settings(page, "chats") },
  files: { fake: "compacted", act: names },
  "link-tip": {
    fake: "main",
    async act(page) {
      await page.locator(".prose a").first().click();
      await page.waitForSelector(".link-tip");
    },
  },
};

/** All scenes by name. */
export const scenes: Record<string, Scene> = { ...pictured, ...more };

/** Brings a page to its scene. */
export async function perform(page: Page, scene: Scene): Promise<void> {
  await scene.act?.(page);
}
