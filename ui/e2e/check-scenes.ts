/**
 * Checks every scene in one page each: axe-core in both themes and languages (no violation of WCAG 2.2 AA or its best
 * practices), Tab reaches everything visibly, and nothing is lost at 200 %.
 */
import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Scene, perform, scenes } from "./scenes";
import { Stage, change, close, resize, settled } from "./stage";
import { walk } from "./tab-walk";
import { ZOOMED, lost } from "./zoom";

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
// A menu sits in the top layer and belongs to its button, regardless of its position in the document.
const OFF = { region: { enabled: false } };
/** Rules that depend on colours alone: all others give the same result in every theme. */
const COLOURS = ["color-contrast", "link-in-text-block"];

/** Returns axe's findings as text. */
async function examine(page: Page, what: "everything" | "colours", look: string): Promise<string[]> {
  const only =
    what === "everything" ? { type: "tag" as const, values: TAGS } : { type: "rule" as const, values: COLOURS };
  const { violations } = await page.evaluate(
    ([runOnly, rules]) =>
      (window as unknown as { axe: typeof axe }).axe.run(document, { runOnly, rules, resultTypes: ["violations"] }),
    [only, what === "everything" ? OFF : {}] as const,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${look}: ${id}: ${node.html.slice(0, 160)} ${node.failureSummary?.split("\n")[1] ?? ""}`),
  );
}

/** Examines English in both themes and Chinese in the dark one, switching within one page. */
async function examineAll(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = await examine(page, "everything", "English, light");
  await change(page, { theme: "dark" });
  await page.waitForSelector('html[data-theme="dark"]');
  await settled(page);
  found.push(...(await examine(page, "colours", "English, dark")));
  await change(page, { language: "zh" });
  await page.waitForSelector('html[lang="zh-CN"]');
  await settled(page);
  // Repeats everything in Chinese and dark: other words may be missing and other characters too pale. Light and
  // dark do not depend on the language.
  found.push(...(await examine(page, "everything", "Chinese, dark")));
  return found;
}

/**
 * Returns the elements Tab does not reach, or reaches without a visible focus, and then those lost at twice the size.
 */
async function goThrough(page: Page, scene: Scene): Promise<{ missed: string[]; unseen: string[]; lost: string[] }> {
  // Arrow keys move through a menu, and Tab closes it.
  const menu = (await page.locator("[role=menu]:popover-open").count()) > 0;
  const { missed, unseen, reached } = menu ? { missed: [], unseen: [], reached: 1 } : await walk(page);
  if (reached === 0) missed.push("nothing was there to be reached");
  const [width, height] = scene.size ?? [ZOOMED.width * 2, ZOOMED.height * 2];
  await resize(page, width / 2, height / 2);
  return { missed, unseen, lost: await lost(page) };
}

const FINE = { missed: [], unseen: [], lost: [] };

// A start page without a core has no settings to change and uses the system's language.
const still = new Set(["start-failed", "start-damaged"]);

/** Tests every second scene, starting with the first or the second, so that two test files take equally long. */
export function checkEverySecond(from: 0 | 1): void {
  let stage: Stage;
  beforeAll(async () => {
    stage = await Stage.start();
  });
  afterAll(() => stage.end());

  const mine = Object.entries(scenes).filter((_, nth) => nth % 2 === from);

  describe.concurrent("all is well", () => {
    for (const [name, scene] of mine.filter(([name]) => !still.has(name))) {
      it(`on ${name}`, async () => {
        const [width, height] = scene.size ?? [1280, 800];
        const page = await stage.open({ scene: scene.fake, query: scene.query ?? "", size: { width, height } });
        await perform(page, scene);
        await settled(page);
        expect(await examineAll(page)).toEqual([]);
        await change(page, { language: "en" });
        await page.waitForSelector('html[lang="en"]');
        expect(await goThrough(page, scene)).toEqual(FINE);
        await close(page);
      });
    }

    for (const [name, scene] of mine.filter(([name]) => still.has(name))) {
      it.each(["en", "zh"] as const)(`on ${name}, in %s`, async (language) => {
        const page = await stage.open({ scene: scene.fake, language });
        await perform(page, scene);
        await settled(page);
        await page.evaluate(axe.source);
        expect(await examine(page, "everything", "light")).toEqual([]);
        await page.emulateMedia({ colorScheme: "dark" });
        await settled(page);
        expect(await examine(page, "colours", "dark")).toEqual([]);
        expect(await goThrough(page, scene)).toEqual(FINE);
        await close(page);
      });
    }
  });

  it("finds what is wrong", async () => {
    const page = await stage.open({ scene: "main" });
    await page.evaluate(axe.source);
    await page.evaluate(() => {
      const button = document.createElement("button");
      button.style.cssText = "position: fixed; top: 0; left: 0; color: #999; background: #aaa";
      button.textContent = "Pale";
      document.querySelector("main")?.append(button, document.createElement("button"));
    });
    const found = (await examine(page, "everything", "light")).join("\n");
    expect(found).toContain("color-contrast");
    expect(found).toContain("button-name");
    await close(page);
  });

  it("no scene wrote an error or a warning to its console", () => {
    expect(stage.faults).toEqual([]);
  });
}
