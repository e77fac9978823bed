/**
 * Ten thousand of everything: the document contains only the visible part. Element counts are gated, since they are the
 * same on every machine; times are only reported.
 */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Stage, close, drive, settled } from "./stage";

/**
 * The maximum number of transcript rows mounted at once in a window of 800 px: those in view and 600 px on each side.
 */
const ROWS = 45;
/** The maximum number of elements in a window with a long transcript and the session list. */
const ELEMENTS = 1_200;
/**
 * The maximum number of session rows mounted at once, and the number of one of its last rows: some rows are recorded
 * ones.
 */
const LINES = 60;
const OLDEST = 9_900;

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterAll(() => stage.end());

const elements = (page: Page): Promise<number> => page.evaluate(() => document.querySelectorAll("*").length);
const rows = (page: Page): Promise<number> => page.locator(".t-row").count();

/** Returns the numbers of the first and the last message in view. */
function inView(page: Page): Promise<[number, number]> {
  return page.evaluate(() => {
    const scroller = document.querySelector("[data-testid=transcript]");
    const window = scroller?.getBoundingClientRect();
    const numbers = [...document.querySelectorAll(".t-row")].flatMap((row) => {
      const box = row.getBoundingClientRect();
      const found = /(?:Question|Answer) (\d+):/.exec(row.textContent ?? "")?.[1];
      return window && found && box.bottom > window.top && box.top < window.bottom ? [Number(found)] : [];
    });
    return [Math.min(...numbers), Math.max(...numbers)];
  });
}

async function scrollTo(page: Page, part: number): Promise<void> {
  // Rows are measured as they scroll into view, so reaching a position takes several steps.
  for (let step = 0; step < 4; step += 1) {
    await page.getByTestId("transcript").evaluate((scroller, part) => {
      scroller.dispatchEvent(new WheelEvent("wheel"));
      scroller.scrollTop = part * (scroller.scrollHeight - scroller.clientHeight);
    }, part);
    await settled(page);
  }
}

describe("a transcript of 10,000 messages", () => {
  it("holds what is in view, at its end, its beginning and in the middle", async () => {
    const page = await stage.open({ scene: "long", query: "&messages=10000", clock: "running" });
    await expect.poll(async () => (await inView(page))[1]).toBe(9_999);
    const counted = [[await rows(page), await elements(page)]];

    // Opening a hit among the first messages loads its surroundings, but nothing between them and the end.
    await page.keyboard.press("Control+k");
    await page.getByTestId("palette-input").fill("Question 2:");
    await page.locator('[data-choice*=":"]').first().click();
    await page.waitForSelector(".t-row[data-marked]", { timeout: 60_000 });
    const [first, last] = await inView(page);
    expect(first <= 2 && last >= 2, `${first} to ${last}`).toBe(true);
    counted.push([await rows(page), await elements(page)]);

    await scrollTo(page, 0);
    expect((await inView(page))[0]).toBe(0);
    counted.push([await rows(page), await elements(page)]);
    await page.keyboard.press("Control+k");
    await page.getByTestId("palette-input").fill("Question 5000:");
    await page.locator('[data-choice*=":"]').first().click();
    await expect
      .poll(async () => {
        const [from, to] = await inView(page);
        return from <= 5_000 && to >= 5_000;
      })
      .toBe(true);
    counted.push([await rows(page), await elements(page)]);
    await page.getByTestId("scroll-to-end").click();
    await expect.poll(async () => (await inView(page))[1]).toBe(9_999);
    await settled(page);
    counted.push([await rows(page), await elements(page)]);

    for (const [mounted = Infinity, all = Infinity] of counted) {
      expect(mounted).toBeLessThanOrEqual(ROWS);
      expect(mounted).toBeGreaterThan(4);
      expect(all).toBeLessThanOrEqual(ELEMENTS);
    }
    // Nothing leaks on the way: the end has as many nodes as before.
    expect(Math.abs((counted.at(-1)?.[1] ?? 0) - (counted[0]?.[1] ?? 0))).toBeLessThan(200);
    console.info(`transcript of 10,000: rows and elements at its places ${JSON.stringify(counted)}`);
    await close(page);
  });

  it("streams 500 tokens a second into it with bounded work for each piece", async () => {
    const page = await stage.open({ scene: "long", query: "&messages=10000", clock: "running" });
    const session = await page.locator('[data-testid="session-row"][aria-current]').getAttribute("data-session");
    const message = "e1".padEnd(32, "0");
    const turn = "71".padEnd(32, "0");
    const topic = { type: "session", id: session };
    const began = { id: message, turn, role: "assistant", blocks: [], meta: { origin: "model", at: 0 } };
    await drive(page, { events: [{ topic, event: { type: "message_started", message: began } }] });
    const before = await elements(page);
    const measured = await page.evaluate(
      async ({ session, message, batches }) => {
        const paragraph = "The part was sent again after the connection came back, so the store says so.\n\n";
        const text = Array.from({ length: 400 }, (_, n) =>
          n % 9 === 8 ? `\`\`\`rust\n${"let part = store.put(id).await?;\n".repeat(8)}\`\`\`\n\n` : paragraph,
        ).join("");
        const shownBefore = (document.querySelector("[data-testid=transcript]")?.textContent ?? "").length;
        let longTasks = 0;
        let longest = 0;
        const tasks = new PerformanceObserver((list) => {
          for (const task of list.getEntries()) {
            longTasks += 1;
            longest = Math.max(longest, task.duration);
          }
        });
        tasks.observe({ type: "longtask" });
        // The number of nodes each piece adds to the document.
        const added: number[] = [];
        let now = 0;
        const watch = new MutationObserver((records) => {
          for (const record of records)
            for (const node of record.addedNodes)
              now += node instanceof Element ? 1 + node.querySelectorAll("*").length : 1;
        });
        watch.observe(document.querySelector("[data-testid=transcript]") ?? document, {
          subtree: true,
          childList: true,
        });
        const frames: number[] = [];
        let last = performance.now();
        let running = true;
        const frame = (at: number): void => {
          frames.push(at - last);
          last = at;
          if (running) requestAnimationFrame(frame);
        };
        requestAnimationFrame(frame);
        // 500 tokens a second are about 2,000 characters; the forwarder batches 30 ms of text.
        const size = 60;
        let offset = 0;
        for (let batch = 0; batch < batches; batch += 1) {
          const piece = text.slice(offset, offset + size);
          const delta = { session, message, block: 0, kind: { type: "text" }, offset, text: piece };
          dispatchEvent(new CustomEvent("fake", { detail: { updates: [{ type: "delta", delta }] } }));
          offset += piece.length;
          await new Promise((resolve) => setTimeout(resolve, 30));
          added.push(now);
          now = 0;
        }
        running = false;
        watch.disconnect();
        tasks.disconnect();
        frames.sort((a, b) => a - b);
        return {
          offset,
          shown: (document.querySelector("[data-testid=transcript]")?.textContent ?? "").length - shownBefore,
          longTasks,
          longest,
          most: Math.max(...added),
          frame50: frames[Math.floor(frames.length / 2)],
          frame99: frames[Math.floor(frames.length * 0.99)],
        };
      },
      { session, message, batches: 250 },
    );
    // The whole text is readable, and a piece rerenders only the open paragraph or code block.
    expect(measured.shown).toBeGreaterThan(measured.offset * 0.5);
    expect(measured.most).toBeGreaterThan(0);
    expect(measured.most).toBeLessThan(200);
    expect(await rows(page)).toBeLessThanOrEqual(ROWS);
    expect((await elements(page)) - before).toBeLessThan(measured.offset / 8);
    // The view follows the end.
    expect(
      await page
        .getByTestId("transcript")
        .evaluate((scroller) => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight),
    ).toBeLessThan(30);
    console.info(`streaming at 500 tokens a second into 10,000 messages: ${JSON.stringify(measured)}`);
    await close(page);
  });
});

describe("a list of 10,000 sessions", () => {
  it("holds what is in view, from its beginning to its end, and so does what is found in it", async () => {
    const page = await stage.open({ scene: "main", query: "&sessions=10000", clock: "running" });
    const list = page.getByTestId("session-list");
    const counted: [lines: number, all: number][] = [];
    const count = async (): Promise<void> => {
      await settled(page);
      counted.push([await list.locator(".row").count(), await elements(page)]);
    };
    await count();
    const last = async (): Promise<number> =>
      Number(/Old session (\d+)/.exec((await list.locator(".row").last().textContent()) ?? "")?.[1]);
    // Scrolling loads the remaining pages one by one.
    for (let step = 0; step < 400; step += 1) {
      await list.evaluate((scroller) => (scroller.scrollTop = scroller.scrollHeight));
      await settled(page);
      if ((await last()) >= OLDEST) break;
    }
    expect(await last()).toBeGreaterThanOrEqual(OLDEST);
    await count();
    await list.evaluate((scroller) => (scroller.scrollTop = scroller.scrollHeight / 2));
    await count();
    await page.getByTestId("search").fill("Old session");
    await expect.poll(async () => list.locator(".row").first().textContent()).toContain("Old session");
    await count();
    console.info(`list of 10,000: rows and elements at its places ${JSON.stringify(counted)}`);
    for (const [lines, all] of counted) {
      expect(lines).toBeLessThanOrEqual(LINES);
      expect(all).toBeLessThanOrEqual(ELEMENTS);
    }
    await close(page);
  });
});

it("nothing wrote an error or a warning to its console", () => {
  expect(stage.faults).toEqual([]);
});
