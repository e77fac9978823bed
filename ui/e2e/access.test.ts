/** Tests zoom, reduced motion, forced colours, languages and screen reader output. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { perform, scenes } from "./scenes";
import { Stage, change, close, drive, settled, untilFocused } from "./stage";
import { ZOOMED, lost } from "./zoom";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterAll(() => stage.end());

async function at(name: string, more: Partial<Parameters<Stage["open"]>[0]> = {}): Promise<Page> {
  const scene = scenes[name];
  if (!scene) throw new Error(`there is no scene ${name}`);
  const page = await stage.open({ scene: scene.fake, query: scene.query ?? "", ...more });
  await perform(page, scene);
  await settled(page);
  return page;
}

/** `every.ts` checks that no scene loses content. */
describe("at 200 %", () => {
  it("nothing of any page of settings is lost", async () => {
    const page = await stage.open({ scene: "main", size: ZOOMED });
    await page.keyboard.press("Control+,");
    await page.waitForSelector('[data-testid="settings"]');
    const pages = await page
      .locator("[data-page]")
      .evaluateAll((rows) => rows.map((row) => row.getAttribute("data-page")));
    expect(pages.length).toBeGreaterThan(5);
    for (const section of pages) {
      await page.keyboard.press("Control+b");
      await page.locator(`[data-page="${section}"]`).click();
      await settled(page);
      expect(await lost(page), section ?? "").toEqual([]);
    }
    await close(page);
  });

  it("the check would notice", async () => {
    const page = await stage.open({ scene: "main", size: ZOOMED });
    await page.evaluate(() => {
      const button = document.createElement("button");
      button.textContent = "far";
      button.style.cssText = "position: fixed; left: 900px; top: 10px";
      document.querySelector("main")?.append(button);
    });
    expect((await lost(page)).join()).toContain("far");
    await close(page);
  });
});

describe("motion", () => {
  const moving = (page: Page): Promise<string[]> =>
    page.evaluate(() =>
      document
        .getAnimations()
        .filter(
          (animation) => animation.playState === "running" && animation.effect?.getComputedTiming().duration !== 0,
        )
        .map(
          (animation) => (animation as CSSAnimation).animationName ?? (animation as CSSTransition).transitionProperty,
        ),
    );

  it.each(["main", "background", "browser", "palette", "time"])(
    "stands still on %s where less is asked for",
    async (name) => {
      const page = await at(name, { motion: "reduce" });
      expect(await moving(page)).toEqual([]);
      await close(page);
    },
  );

  it("there is some where it is not", async () => {
    const page = await at("main", { motion: "no-preference" });
    expect(await moving(page)).toContain("spin");
    await close(page);
  });
});

describe("forced colours", () => {
  it("keep what is chosen, current, on and running apart", async () => {
    const page = await at("settings-general", { colours: "active" });
    const looks = (selector: string): Promise<string> =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => {
          const { outlineStyle, outlineColor, borderColor, backgroundColor, color } = getComputedStyle(element);
          const knob = getComputedStyle(element, "::after");
          return [
            outlineStyle,
            outlineColor,
            borderColor,
            backgroundColor,
            color,
            knob.backgroundColor,
            knob.borderColor,
          ].join();
        });
    expect(await looks(".side-list .row[aria-current]")).not.toBe(await looks(".side-list .row:not([aria-current])"));
    expect(await looks('.seg [aria-pressed="true"]')).not.toBe(await looks('.seg [aria-pressed="false"]'));
    await page.locator('[data-page="behaviour"]').click();
    await page.locator('.switch[aria-checked="true"]').first().waitFor();
    await settled(page);
    const on = await looks('.switch[aria-checked="true"]');
    await page.locator('.switch[aria-checked="true"]').first().click();
    expect(await looks('.switch[aria-checked="false"]')).not.toBe(on);
    await page.keyboard.press("Control+k");
    await page.waitForSelector('[data-testid="palette-choice"]');
    expect(await looks('.palette [aria-selected="true"]')).not.toBe(await looks('.palette [aria-selected="false"]'));
    await close(page);
  });

  it("leave the marks that are drawn by their ground", async () => {
    const page = await at("main", { colours: "active" });
    const ground = (selector: string): Promise<string[]> =>
      page
        .locator(selector)
        .evaluateAll((elements) => elements.map((element) => getComputedStyle(element).backgroundColor));
    const canvas = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dots = await ground(".side .dot");
    expect(dots.length).toBeGreaterThan(0);
    expect(dots).not.toContain(canvas);
    await close(page);
  });
});

describe("languages", () => {
  it("are told to the browser, and changed while the page stands", async () => {
    const page = await stage.open({ scene: "main", language: "zh" });
    expect(await page.evaluate(() => document.documentElement.lang)).toBe("zh-CN");
    await expect.poll(() => page.getByTestId("open-trash").innerText()).toBe("回收站");
    await page.getByTestId("composer").fill("写到一半");
    await change(page, { language: "en" });
    await page.waitForSelector('html[lang="en"]');
    await expect.poll(() => page.getByTestId("open-trash").innerText()).toBe("Trash");
    await expect.poll(() => page.getByTestId("composer").inputValue()).toBe("写到一半");
    await close(page);
  });

  it("Chinese breaks between signs, never before a mark that closes nor after one that opens", async () => {
    const page = await stage.open({ scene: "new", language: "zh", size: { width: 700, height: 700 } });
    await page.getByTestId("new-folder").fill("/tmp/p");
    const text =
      "他说：“连接中断之后，第四部分已经存好了，可是回执没有到达（这就是原因）；所以它被再发了一次。”《说明》里写着：先查询，再发送！是这样吗？";
    await page.getByTestId("composer").fill(text.repeat(6));
    await page.getByTestId("send").click();
    const words = page.locator('[data-testid="user-message"] .message-text').first();
    await words.waitFor();
    const edges = await words.evaluate((element) => {
      const found: { first: string[]; last: string[] } = { first: [], last: [] };
      const range = document.createRange();
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      let top: number | null = null;
      let before = "";
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const data = node.textContent ?? "";
        for (let at = 0; at < data.length; at += 1) {
          range.setStart(node, at);
          range.setEnd(node, at + 1);
          const box = range.getBoundingClientRect();
          if (box.width === 0) continue;
          if (top !== null && box.top > top + 4) {
            found.first.push(data.charAt(at));
            found.last.push(before);
          }
          top = box.top;
          before = data.charAt(at);
        }
      }
      return found;
    });
    expect(edges.first.length).toBeGreaterThan(4);
    expect(edges.first.filter((sign) => "，。、；：！？）》”’".includes(sign))).toEqual([]);
    expect(edges.last.filter((sign) => "（《“‘".includes(sign))).toEqual([]);
    const wide = await words.evaluate((element) => element.scrollWidth > element.clientWidth + 1);
    expect(wide).toBe(false);
    await close(page);
  });

  it("an input method's Enter writes; the one after it sends", async () => {
    const page = await stage.open({ scene: "new", language: "zh" });
    await page.getByTestId("new-folder").fill("/tmp/p");
    await page.getByTestId("composer").focus();
    const keys = await page.context().newCDPSession(page);
    const enter = async (): Promise<void> => {
      const key = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13 };
      await keys.send("Input.dispatchKeyEvent", { type: "keyDown", text: "\r", ...key });
      await keys.send("Input.dispatchKeyEvent", { type: "keyUp", ...key });
    };
    await keys.send("Input.imeSetComposition", { text: "ni hao", selectionStart: 6, selectionEnd: 6 });
    await expect.poll(() => page.getByTestId("composer").inputValue()).toBe("ni hao");
    await enter();
    await settled(page);
    await expect.poll(() => page.getByTestId("user-message").count()).toBe(0);
    await page.getByTestId("composer").fill("");
    await keys.send("Input.imeSetComposition", { text: "ni hao", selectionStart: 6, selectionEnd: 6 });
    await keys.send("Input.insertText", { text: "你好" });
    await expect.poll(() => page.getByTestId("composer").inputValue()).toBe("你好");
    await enter();
    await page.getByTestId("user-message").waitFor();
    await expect.poll(() => page.getByTestId("user-message").innerText()).toContain("你好");
    await close(page);
  });

  it("the palette leaves an input method's Enter and arrows alone", async () => {
    const page = await stage.open({ scene: "main", language: "zh" });
    await page.keyboard.press("Control+k");
    await untilFocused(page, "palette-input");
    await page.getByTestId("palette-input").evaluate((field) => {
      for (const key of ["Enter", "ArrowDown"])
        field.dispatchEvent(new KeyboardEvent("keydown", { key, keyCode: 229, bubbles: true, cancelable: true }));
    });
    await expect.poll(() => page.getByTestId("palette").isVisible()).toBe(true);
    await expect.poll(() => page.getByTestId("palette-choice").first().getAttribute("aria-selected")).toBe("true");
    await close(page);
  });
});

describe("a screen reader", () => {
  it("is told each answer once it is whole, and nothing while it streams", async () => {
    const page = await stage.open({ scene: "long", query: "&messages=20" });
    const spoken = page.getByTestId("announcer");
    await expect.poll(() => spoken.getAttribute("aria-live")).toBe("polite");
    await expect.poll(() => page.getByTestId("transcript").getAttribute("aria-live")).toBe("off");
    // Earlier content is not announced.
    await expect.poll(() => spoken.innerText()).toBe("");
    const session = await page.locator('[data-testid="session-row"][aria-current]').getAttribute("data-session");
    const message = "e1".padEnd(32, "0");
    const event = (event: unknown): unknown => ({ topic: { type: "session", id: session }, event });
    await drive(page, {
      events: [
        event({
          type: "message_started",
          message: {
            id: message,
            turn: "71".padEnd(32, "0"),
            role: "assistant",
            blocks: [],
            meta: { origin: "model", at: 0 },
          },
        }),
      ],
    });
    let offset = 0;
    for (const text of ["I **found", " it** in `a.rs`.", "\n\n```\nlet a;\n```\n"]) {
      await drive(page, {
        updates: [{ type: "delta", delta: { session, message, block: 0, kind: { type: "text" }, offset, text } }],
      });
      offset += text.length;
      await settled(page);
      await expect.poll(() => spoken.innerText()).toBe("");
    }
    const whole = "I **found it** in `a.rs`.\n\n```\nlet a;\n```\n";
    await drive(page, {
      events: [event({ type: "block_added", message, index: 0, block: { type: "text", text: whole } })],
    });
    await expect.poll(() => spoken.locator("p").allInnerTexts()).toEqual(["I found it in a.rs. A piece of code."]);
    await drive(page, { events: [event({ type: "message_ended", message, end: "complete" })] });
    await settled(page);
    await expect.poll(() => spoken.locator("p").count()).toBe(1);
    await close(page);
  });
});

it("nothing wrote an error or a warning to its console", () => {
  expect(stage.faults).toEqual([]);
});
