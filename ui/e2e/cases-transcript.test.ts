/** The acceptance cases of an agent's visible work: reasoning, tools, questions and costs. */
import type { Page } from "playwright-core";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readyHome } from "../core/seeds.ts";
import { current, pick, row, say } from "./actions";
import { perform, scenes } from "./scenes";
import { Stage, asked, close, resize, restart, settled } from "./stage";
import { TurnScript } from "./turn-script";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterAll(() => stage.end());

/** Returns a call of a tool, for a reply of the model. */
const use = (tool: string, input: unknown) => ({ call: { tool, arguments: input } });

/** Starts a turn in a session. */
async function telling(page: Page): Promise<TurnScript> {
  return TurnScript.begin(page, await current(page), "Make the upload tests pass");
}

describe("what is pressed while an answer streams", () => {
  /** Streams lines, one per frame; returns the element over the middle of the block at each of them. */
  function stream(page: Page, session: string, message: string, lines: number): Promise<string[]> {
    return page.evaluate(
      ([session, message, lines]) =>
        new Promise<string[]>((resolve) => {
          const over: string[] = [];
          const written = window as unknown as { written?: string };
          let left = lines;
          const frame = (): void => {
            const block = [...document.querySelectorAll('[data-testid="reasoning"]')].at(-1);
            const box = block?.getBoundingClientRect();
            const at = box && document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
            if (!at || !block?.contains(at)) over.push(at?.className ?? "nothing");
            if ((left -= 1) < 0) return resolve(over);
            const offset = written.written?.length ?? 0;
            const text = written.written === undefined ? "Parts are kept.\n\n" : "- line\n";
            const delta = { session, message, block: 1, kind: { type: "text" }, offset, text };
            written.written = (written.written ?? "") + text;
            dispatchEvent(new CustomEvent("fake", { detail: { updates: [{ type: "delta", delta }] } }));
            requestAnimationFrame(frame);
          };
          requestAnimationFrame(frame);
        }),
      [session, message, lines] as const,
    );
  }

  it("takes the press at each frame, stands still under it, and the view goes on at the end after it", async () => {
    const page = await stage.open({ scene: "compacted" });
    const model = await telling(page);
    const message = await model.message();
    await model.block("reasoning", "The client keeps no record of finished parts.");
    const block = page.getByTestId("reasoning").last();
    await block.waitFor();
    const place = async (): Promise<{ x: number; y: number; height: number }> => {
      const box = await block.boundingBox();
      if (!box) throw new Error("the thinking is not in view");
      return box;
    };
    const before = await place();
    expect(await stream(page, model.session, message, 8)).toEqual([]);
    await settled(page);
    const box = await place();
    expect(box.y).toBeLessThan(before.y - 40);
    await page.mouse.move(box.x + 20, box.y + box.height / 2);
    await page.mouse.down();
    expect(await stream(page, model.session, message, 8)).toEqual([]);
    expect((await place()).y).toBe(box.y);
    await page.mouse.up();
    await page.getByText("The client keeps no record of finished parts.").waitFor();
    await expect.poll(place).not.toMatchObject({ y: box.y });
    await expect.poll(() => page.getByTestId("transcript").getAttribute("data-following")).toBe("true");
    await close(page);
  });

  it("stays where its bar was drawn to, however long that took", async () => {
    const page = await stage.open({ scene: "long" });
    const list = page.getByTestId("transcript");
    await expect.poll(() => list.getAttribute("data-following")).toBe("true");
    const box = await list.boundingBox();
    if (!box) throw new Error("the transcript is not in view");
    // Dragging a scrollbar gives the page only its press, scroll and release events.
    await page.mouse.move(box.x + 4, box.y + 40);
    await page.mouse.down();
    await page.waitForTimeout(700);
    await list.evaluate((element) => (element.scrollTop -= 200));
    await page.mouse.up();
    await page.waitForTimeout(500);
    await expect.poll(() => list.getAttribute("data-following")).toBe("false");
    // Measuring rows above the viewport must not move the visible ones.
    const left = await list.evaluate(
      ({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight,
    );
    expect(left).toBe(200);
    await close(page);
  });

  it("keeps words that are selected where they are", async () => {
    const page = await stage.open({ scene: "compacted" });
    const model = await telling(page);
    const message = await model.message();
    await model.block("reasoning", "Nothing.");
    await stream(page, model.session, message, 8);
    await settled(page);
    const words = page.locator(".md").last().getByText("Parts are kept.");
    const box = await words.boundingBox();
    if (!box) throw new Error("the words are not in view");
    await page.mouse.move(box.x + 1, box.y + 8);
    await page.mouse.down();
    await page.mouse.move(box.x + 20, box.y + 8, { steps: 4 });
    await page.mouse.up();
    await stream(page, model.session, message, 12);
    await settled(page);
    expect((await words.boundingBox())?.y).toBe(box.y);
    expect(await page.evaluate(() => String(getSelection()))).not.toBe("");
    await page.getByTestId("scroll-to-end").click();
    await expect.poll(async () => (await words.boundingBox())?.y ?? 0).toBeLessThan(box.y);
    await close(page);
  });
});

describe("an agent's work", () => {
  it("19. reasoning appears in a thinking block that remembers whether it was opened or closed", async () => {
    const page = await stage.open({ scene: "compacted" });
    const model = await telling(page);
    await model.message();
    await model.piece("reasoning", "The client keeps no record of finished parts.");
    const blocks = page.getByTestId("reasoning");
    await expect.poll(() => blocks.last().innerText()).toBe(say("reasoning.now"));
    await expect.poll(() => blocks.last().getAttribute("aria-expanded")).toBe("false");
    await blocks.last().click();
    await page.getByText("The client keeps no record of finished parts.").waitFor();
    await model.block("reasoning", "The client keeps no record of finished parts.");
    await expect.poll(() => blocks.last().innerText()).toBe(say("reasoning.done"));
    // Later reasoning is expanded too, also after a restart.
    await model.message();
    await model.block("reasoning", "So the list of ETags is the natural token.");
    await page.getByText("So the list of ETags is the natural token.").waitFor();
    await restart(page);
    await row(page, "Resume uploads").click();
    await blocks.first().waitFor();
    await expect.poll(() => blocks.first().getAttribute("aria-expanded")).toBe("true");
    await blocks.first().focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => blocks.first().getAttribute("aria-expanded")).toBe("false");
    await restart(page);
    await row(page, "Resume uploads").click();
    await blocks.first().waitFor();
    await expect.poll(() => blocks.first().getAttribute("aria-expanded")).toBe("false");
    await close(page);
  });

  it("20. several tools form one group with count, live status and output, which can be collapsed", async () => {
    // The command ends when the test writes the file it waits for.
    const command = "echo test resumes ... ok; while [ ! -e go ]; do sleep 0.02; done";
    const { page, core } = await stage.openReal(readyHome);
    core.write("a.rs", "fn a() {}\n");
    await core.replies(
      {
        parts: [use("file_reader", { path: "a.rs" }), use("terminal", { command }), use("terminal", { command: "ls" })],
      },
      { parts: [{ text: "Green." }] },
    );
    await core.startSession("Make the upload tests pass", { mode: "autonomous" });
    await row(page, "Make the upload tests pass").click();
    const head = page.getByTestId("step-group").last();
    const steps = page.getByTestId("step-row");
    const states = (): Promise<(string | null)[]> =>
      steps.evaluateAll((rows) => rows.map((row) => row.getAttribute("data-state")));
    await expect.poll(states).toEqual(["ended", "started", "planned"]);
    await expect.poll(() => head.innerText()).toContain(say("count.steps.other", { n: 3 }));
    const output = page.getByText("test resumes ... ok", { exact: true });
    await output.waitFor();
    await head.click();
    await expect.poll(() => head.getAttribute("aria-expanded")).toBe("false");
    await expect.poll(() => output.count()).toBe(0);
    // Folded, the group shows the step in progress.
    await expect.poll(() => head.innerText()).toContain(say("step.run.now"));
    await head.click();
    core.write("go", "");
    await expect.poll(states).toEqual(["ended", "ended", "ended"]);
    await close(page);
  });

  it("22. a failed command's card is marked failed, with exit code, last output and a link to the full log", async () => {
    const { page, core } = await stage.openReal(readyHome);
    const command = "seq -f 'test part_%g ... ok' 0 2999; echo test never_twice ... FAILED; exit 101";
    await core.replies({ parts: [use("terminal", { command })] }, { parts: [{ text: "One test fails." }] });
    await core.startSession("Make the upload tests pass", { mode: "autonomous" });
    await row(page, "Make the upload tests pass").click();
    const step = page.getByTestId("step-row");
    await expect.poll(() => step.getAttribute("data-state")).toBe("failed");
    await expect.poll(() => step.innerText()).toContain(say("run.exit", { code: 101 }));
    const body = page.getByTestId("step-body").last();
    await expect.poll(() => body.innerText()).toContain("never_twice ... FAILED");
    await expect.poll(() => body.innerText()).not.toContain("part_0 ");
    await body.getByRole("button", { name: say("run.show_log") }).click();
    await expect.poll(() => asked(page, "reveal")).toHaveLength(1);
    const [shown] = await asked(page, "reveal");
    expect(readFileSync(String(shown?.["path"]), "utf8")).toContain("part_0 ");
    await close(page);
  });

  it("23. after a restart old tool calls show the same cards, diffs and feedback questions as when they were live", async () => {
    const { page, core } = await stage.openReal(readyHome);
    core.write("a.rs", "let parts = all();\n");
    const edit = { path: "a.rs", old_string: "let parts = all();", new_string: "let parts = missing();" };
    const feedback = { question: "Which part?", context: "Two of **three**.", options: ["One", "Two"] };
    await core.replies(
      { parts: [use("file_reader", { path: "a.rs" })] },
      { parts: [{ text: "I change it." }, use("edit", edit), use("terminal", { command: "cat missing.txt" })] },
      { parts: [use("request_user_feedback", feedback)] },
      { parts: [{ text: "Then the second." }] },
    );
    await core.startSession("Make the upload tests pass", { mode: "autonomous" });
    await row(page, "Make the upload tests pass").click();
    await page.getByTestId("feedback").waitFor();
    const cards = async (): Promise<string[]> => {
      await settled(page);
      return page.locator("[data-testid=transcript] :is(.steps, .diff, .term, .question)").allInnerTexts();
    };
    const live = await cards();
    expect(live.join("\n")).toContain("let parts = missing();");
    expect(live.join("\n")).toContain("Which part?");
    await core.restart();
    await restart(page);
    await page.getByTestId("feedback").waitFor();
    await expect.poll(() => cards()).toEqual(live);
    // The question can be answered after a restart as before.
    await page.getByTestId("feedback-text").fill("The second");
    await page.keyboard.press("Enter");
    await page.locator('[data-testid="turn-end"][data-end="finished"]').waitFor();
    const answered = await cards();
    await core.restart();
    await restart(page);
    await page.locator('[data-testid="turn-end"]').waitFor();
    await expect.poll(() => cards()).toEqual(answered);
    await close(page);
  });

  it("25. a question with options is a card with buttons: a click answers once, and free text also answers", async () => {
    const { page, core } = await stage.openReal(readyHome);
    const options = ["For one release, with a warning", "No, remove it now"];
    const question = "Keep reading settings.json as a fallback?";
    const ask = { parts: [use("request_user_feedback", { question, options })] };
    await core.replies(ask, { parts: [{ text: "It is removed." }] });
    await core.startSession("Remove the old settings file");
    await row(page, "Remove the old settings file").click();
    const card = page.getByTestId("feedback");
    await card.waitFor();
    await expect.poll(() => card.innerText()).toContain(question);
    const option = page.getByTestId("feedback-option");
    await expect.poll(() => option.allInnerTexts()).toEqual(options);
    await option.nth(1).click();
    // Where a click only selects, a separate button sends the answer.
    const send = page.locator('[data-testid="feedback-send"]:enabled');
    await settled(page);
    if ((await send.count()) > 0) await send.click();
    await expect.poll(() => card.count()).toBe(0);
    await page.locator('[data-testid="turn-end"][data-end="finished"]').waitFor();
    const answers = () => asked(page, "answer_question");
    await expect.poll(() => answers()).toMatchObject([{ answer: { type: "text", text: "No, remove it now" } }]);

    await core.replies(ask, { parts: [{ text: "Until March, then." }] });
    await page.getByTestId("composer").fill("And the environment variable?");
    await page.keyboard.press("Enter");
    await card.waitFor();
    await page.getByTestId("feedback-text").fill("Until March");
    await page.keyboard.press("Enter");
    await expect.poll(() => card.count()).toBe(0);
    expect((await answers()).at(-1)).toMatchObject({ answer: { type: "text", text: "Until March" } });
    await close(page);
  });

  it("40. a finished task shows tokens, cache reuse, duration and estimated cost, and adds them to the session's total", async () => {
    const page = await stage.open({ scene: "main" });
    await page.keyboard.press("Escape");
    await page.locator('[data-testid="turn-end"][data-end="stopped"]').waitFor();
    const total = async (): Promise<number> =>
      Number(/\$([\d.]+)/.exec(await page.getByTestId("status-cost").innerText())?.[1]);
    const before = await total();
    const model = await telling(page);
    await model.message();
    await model.block("text", "Done.");
    await model.over({ input: 2_000, cache_read: 18_000, cache_write: 0, output: 26_000 }, 401_400_000);
    const end = page.getByTestId("turn-end").last();
    await expect.poll(() => end.innerText()).toContain("$0.40");
    const words = await end.innerText();
    expect(words).toContain("18.0 s");
    expect(words).toContain(say("turn.tokens", { n: "46k" }));
    expect(words).toContain(say("turn.cached", { share: "90%" }));
    await expect.poll(async () => Math.round(((await total()) - before) * 100)).toBe(40);
    await page.getByTestId("status-cost").click();
    await page.getByText(say("count.calls.other", { n: 47 })).waitFor();
    await close(page);
  });
});

describe("what an agent made", () => {
  async function files(): Promise<Page> {
    const { files: scene } = scenes;
    if (!scene) throw new Error("there is no such scene");
    const page = await stage.open({ scene: scene.fake });
    await perform(page, scene);
    await settled(page);
    return page;
  }

  it("is seen where it is a picture, no wider than the text and not too high", async () => {
    const page = await files();
    const picture = page.locator(".md .shown img");
    await expect.poll(() => picture.getAttribute("alt")).toBe("The uploads of a week");
    const [box, prose] = [await picture.boundingBox(), await page.locator(".prose:has(.shown)").boundingBox()];
    expect(box?.height).toBeCloseTo(420, 0);
    // 1200 by 900, plus its border.
    expect((box?.width ?? 0) / (box?.height ?? 1)).toBeCloseTo(1200 / 900, 1);
    expect(box?.width).toBeLessThanOrEqual(prose?.width ?? 0);
    await resize(page, 420, 800);
    const narrow = await picture.evaluate((image) => {
      const { width, height } = image.getBoundingClientRect();
      return { ratio: width / height, beyond: width - (image.closest(".prose")?.clientWidth ?? 0) };
    });
    expect(narrow.ratio).toBeCloseTo(1200 / 900, 1);
    expect(narrow.beyond).toBeLessThanOrEqual(0);
    // A missing picture and one of an unsupported type.
    await expect
      .poll(() => page.locator(".md .chip").allInnerTexts())
      .toEqual([`${say("picture.local")} An older one`, `${say("picture.local")} A page`]);
    expect((await asked(page, "get_picture")).map(({ path }) => path)).toEqual(["out/plot.png", "out/gone.png"]);
    await close(page);
  });

  it("is shown in its folder from its name, its picture, its card and the session's menu", async () => {
    const page = await files();
    const folder = "/home/mei/code/harbor";
    await page.getByRole("button", { name: "plot.py", exact: true }).click();
    await page.locator(".md .shown").click();
    await page.getByRole("button", { name: `${say("picture.local")} A page` }).focus();
    await page.keyboard.press("Enter");
    const card = page.getByRole("button", { name: say("file.show", { path: "plot.py" }) }).last();
    // Hidden until needed; keyboard focus on its row shows it.
    await page.getByTestId("step-row").last().focus();
    await page.keyboard.press("Tab");
    expect(
      await card.evaluate((button) => [document.activeElement === button, getComputedStyle(button).opacity]),
    ).toEqual([true, "1"]);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: say("session.more"), exact: true }).click();
    await pick(page, say("session.folder"));
    const paths = ["plot.py", "out/plot.png", "out/page.svg", `${folder}/plot.py`, folder];
    await expect
      .poll(() => asked(page, "reveal_file"))
      .toEqual(paths.map((path) => ({ type: "reveal_file", path, folder })));
    expect(
      await page
        .locator(".md")
        .getByText("On the network")
        .evaluate((text) => text.closest("button, a")),
    ).toBeNull();
    await close(page);
  });

  it("is not asked for again while the text around it streams", async () => {
    const page = await stage.open({ scene: "compacted" });
    const model = await telling(page);
    await model.message();
    await model.piece("text", "- ![One](out/one.png)");
    const picture = page.locator(".md .shown img");
    await picture.waitFor();
    const height = await picture.evaluate((image) => {
      Object.assign(window, { first: image });
      return image.clientHeight;
    });
    for (const piece of [" and", " more", " of it\n- another"]) await model.piece("text", piece);
    const same = await picture.evaluate((image) => [
      image === (window as unknown as { first: Element }).first,
      image.clientHeight,
    ]);
    expect(same).toEqual([true, height]);
    expect((await asked(page, "get_picture")).length).toBe(1);
    await close(page);
  });
});

it("nothing wrote an error or a warning to its console", () => {
  expect(stage.faults).toEqual([]);
});
