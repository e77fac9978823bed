/** The scenes that pictures are taken of, and more that are only opened by keys: each is a page, a dialog or a menu. */
import type { Page } from "playwright-core";
import { scenes as pictured } from "../scripts/pictures.mjs";
import { tellRuns } from "./person";

/** What is opened and how one gets to where the scene is. */
export interface Scene {
  readonly fake: string;
  readonly query?: string;
  /** Of the window, where it has only one. */
  readonly size?: readonly [width: number, height: number];
  readonly act?: (page: Page) => Promise<void>;
}

async function settings(page: Page, section: string): Promise<void> {
  await page.getByTestId("open-settings").click();
  await page.locator(`[data-page="${section}"]`).click();
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
      await tellRuns(page, "Morning brief", [{}, {}, { read_at: 0 }, { status: "failed", read_at: 0 }, {}]);
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
  about: { fake: "main", act: (page) => settings(page, "about") },
  "link-tip": {
    fake: "main",
    async act(page) {
      await page.locator(".prose a").first().click();
      await page.waitForSelector(".link-tip");
    },
  },
};

/** All scenes by their names. */
export const scenes: Record<string, Scene> = { ...pictured, ...more };

/** Opens a scene's place in a page of it. */
export async function perform(page: Page, scene: Scene): Promise<void> {
  await scene.act?.(page);
}
