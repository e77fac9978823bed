/** The acceptance cases of permissions: questions, answers and the mode. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { current, pick, row, say } from "./actions";
import { Stage, asked, close, untilFocused } from "./stage";
import { TurnScript, command, difference } from "./turn-script";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterAll(() => stage.end());

describe("permission", () => {
  it("28. in Ask each write or command shows its diff or command line and offers once, for this session, and no with a reason", async () => {
    const page = await stage.open({ scene: "permission" });
    const first = page.getByTestId("question").first();
    const second = page.getByTestId("question").nth(1);
    expect(await first.locator(".diff").innerText()).toContain('"8 MiB"');
    expect(await first.innerText()).toContain("~/.config/harbor/config.toml");
    expect(await second.locator(".cmd").innerText()).toContain("cargo publish --dry-run --allow-dirty");
    for (const card of [first, second]) {
      for (const id of ["question-once", "question-session", "question-no", "question-no-reason"]) {
        expect(await card.getByTestId(id).isVisible(), id).toBe(true);
      }
    }
    await first.getByTestId("question-session").click();
    await expect.poll(() => page.getByTestId("question").count()).toBe(1);
    await untilFocused(page, "question");
    await page.getByTestId("question-no-reason").click();
    await untilFocused(page, "question-reason");
    await page.keyboard.type("Not before Thursday");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByTestId("question").count()).toBe(0);
    const answers = (await asked(page, "answer_question")).map(({ answer }) => answer);
    expect(answers).toEqual([{ type: "session" }, { type: "no", reason: "Not before Thursday" }]);
    // Allows the next call once.
    const model = new TurnScript(page, await current(page), "70000000000000000000000000000025");
    await model.message();
    const write = difference("/home/mei/code/harbor/b.rs", "a", "b");
    await model.asks("edit", write, { type: "permission", preview: write, reason: { type: "mode" }, rule: null });
    const third = page.getByTestId("question");
    expect(await third.locator(".diff").count()).toBe(1);
    // "Allow for this session" needs a rule; without one the button is absent.
    expect(await third.getByTestId("question-session").count()).toBe(0);
    await third.getByTestId("question-once").click();
    await expect.poll(() => page.getByTestId("question").count()).toBe(0);
    expect((await asked(page, "answer_question")).at(-1)).toMatchObject({ answer: { type: "once" } });
    await close(page);
  });

  it("Enter in the message field answers no card that is not wholly in view, and a message that begins with n none at all", async () => {
    const page = await stage.open({ scene: "permission", size: { width: 1280, height: 560 }, clock: "running" });
    const card = page.getByTestId("question").first();
    const composer = page.getByTestId("composer");
    const answers = async () => (await asked(page, "answer_question")).map(({ answer }) => answer);
    const seen = () =>
      card.evaluate((card) => {
        const list = card.closest(".scroll")?.getBoundingClientRect() as DOMRect;
        const { top, bottom } = card.getBoundingClientRect();
        return top > list.top - 1 && bottom < list.bottom + 1;
      });
    const settle = () => page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 900)));
    // The wheel is the person's, so the list does not go back to its end.
    await page.getByTestId("transcript").hover();
    await page.mouse.wheel(0, -4_000);
    await expect.poll(seen).toBe(false);
    await settle();
    await composer.focus();
    await page.keyboard.press("Enter");
    await expect.poll(seen).toBe(true);
    expect(await answers()).toEqual([]);
    await settle();
    await page.keyboard.type("not that one");
    expect(await composer.inputValue()).toBe("not that one");
    expect(await answers()).toEqual([]);
    await composer.fill("");
    await page.keyboard.press("Enter");
    await expect.poll(answers).toEqual([{ type: "once" }]);
    await close(page);
  });

  it("29. the mode changed during a run: the bar shows it, and the next tool call is shown as the new mode has it", async () => {
    const page = await stage.open({ scene: "main" });
    const mode = page.getByTestId("status-mode");
    expect(await mode.innerText()).toContain(say("mode.ask_risky"));
    const session = await current(page);
    await mode.click();
    await pick(page, say("mode.ask"));
    await expect.poll(() => mode.innerText()).toBe(say("mode.ask"));
    expect(await asked(page, "set_mode")).toMatchObject([{ session, mode: "ask" }]);
    expect(await page.getByTestId("stop").isVisible()).toBe(true);
    // Now even a harmless command asks, and the card gives the reason.
    const model = new TurnScript(page, session, "70000000000000000000000000000011");
    await model.message();
    const list = command("ls");
    await model.asks("terminal", list, { type: "permission", preview: list, reason: { type: "mode" }, rule: null });
    const question = page.getByTestId("question");
    expect(await question.innerText()).toContain(say("ask.why.mode"));
    await question.getByTestId("question-once").click();
    await expect.poll(() => question.count()).toBe(0);
    await mode.click();
    await pick(page, say("mode.autonomous"));
    await expect.poll(() => mode.innerText()).toBe(say("mode.autonomous"));
    const call = await model.call("terminal", command("rm -r target"));
    await model.runs(call, "terminal", command("rm -r target"));
    expect(await page.locator(`[data-step="${call}"]`).getAttribute("data-state")).toBe("started");
    expect(await question.count()).toBe(0);
    // Another session keeps its own mode.
    await row(page, "Reply to the landlord").click();
    await expect.poll(() => mode.innerText()).toBe(say("mode.ask_risky"));
    await close(page);
  });
});

it("nothing wrote an error or a warning to its console", () => {
  expect(stage.faults).toEqual([]);
});
