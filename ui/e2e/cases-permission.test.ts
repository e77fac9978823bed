/** The acceptance cases of permissions: questions, answers and the mode. They run on the real core. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PageCore } from "../core/bridge.ts";
import { asking, readyHome } from "../core/seeds.ts";
import { pick, row, say } from "./actions";
import { Stage, asked, close, untilFocused } from "./stage";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterAll(() => stage.end());

describe("permission", () => {
  it("28. in Ask each write or command shows its diff or command line and offers once, for this session, and no with a reason", async () => {
    const { page, core } = await stage.openReal(asking);
    const question = page.getByTestId("question");
    const offers = async (): Promise<void> => {
      for (const id of ["question-once", "question-session", "question-no", "question-no-reason"]) {
        await expect.poll(() => question.getByTestId(id).isVisible(), { message: id }).toBe(true);
      }
    };
    const first = question.filter({ hasText: "config.toml" });
    const second = question.filter({ hasText: "cargo publish" });
    await expect.poll(() => first.locator(".diff").innerText()).toContain('"8 MiB"');
    await offers();
    await first.getByTestId("question-session").click();
    // Calls that change something ask one after the other.
    await second.waitFor();
    await expect.poll(() => question.count()).toBe(1);
    await expect
      .poll(() => second.locator(".command-line").innerText())
      .toContain("cargo publish --dry-run --allow-dirty");
    await offers();
    await core.replies({ parts: [{ call: { tool: "write", arguments: { path: "b.txt", content: "b\n" } } }] });
    await core.replies({ parts: [{ text: "Written." }] });
    await untilFocused(page, "composer");
    await page.getByTestId("question-no-reason").click();
    await untilFocused(page, "question-reason");
    await page.keyboard.type("Not before Thursday");
    await page.keyboard.press("Enter");
    const answers = async () => (await asked(page, "answer_question")).map(({ answer }) => answer);
    await expect.poll(answers).toEqual([{ type: "session" }, { type: "no", reason: "Not before Thursday" }]);
    expect(readFileSync(join(core.folder, "config.toml"), "utf8")).toContain('"8 MiB"');
    // Allows the next call once.
    const third = question.filter({ hasText: "b.txt" });
    await third.waitFor();
    await expect.poll(() => third.locator(".diff").count()).toBe(1);
    await third.getByTestId("question-once").click();
    await page.locator('[data-testid="turn-end"][data-end="finished"]').waitFor();
    await expect.poll(() => question.count()).toBe(0);
    expect((await answers()).at(-1)).toEqual({ type: "once" });
    expect(readFileSync(join(core.folder, "b.txt"), "utf8")).toBe("b\n");
    await close(page);
  });

  it("Enter in the message field answers no card that is not wholly in view, and a message that begins with n none at all", async () => {
    const { page } = await stage.openReal(asking, { size: { width: 1280, height: 560 } });
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
    await expect.poll(() => answers()).toEqual([]);
    await settle();
    await page.keyboard.type("not that one");
    await expect.poll(() => composer.inputValue()).toBe("not that one");
    await expect.poll(() => answers()).toEqual([]);
    await composer.fill("");
    await page.keyboard.press("Enter");
    await expect.poll(answers).toEqual([{ type: "once" }]);
    await close(page);
  });

  it("29. the mode changed during a run: the bar shows it, and the next tool call is shown as the new mode has it", async () => {
    const working = async (core: PageCore): Promise<void> => {
      await readyHome(core);
      core.write("target/old.txt", "old\n");
      await core.replies({ parts: [{ text: "Nothing to do." }] });
      await core.untilIdle((await core.startSession("Reply to the landlord")).id);
      const run = (command: string) => ({ call: { tool: "terminal", arguments: { command } } });
      await core.replies(
        { parts: [{ text: "I look first." }, run("ls")], holds: [[1, "asked"]] },
        { parts: [{ text: "Now the old build." }, run("rm -r target")], holds: [[1, "autonomous"]] },
        { parts: [{ text: "Done." }] },
      );
      await core.startSession("Tidy the folder");
    };
    const { page, core } = await stage.openReal(working);
    const mode = page.getByTestId("status-mode");
    await expect.poll(() => mode.innerText()).toContain(say("mode.ask_risky"));
    const session = await page.locator('[data-testid="session-row"][aria-current]').getAttribute("data-session");
    await mode.click();
    await pick(page, say("mode.ask"));
    await expect.poll(() => mode.innerText()).toBe(say("mode.ask"));
    await expect.poll(() => asked(page, "set_mode")).toMatchObject([{ session, mode: "ask" }]);
    await expect.poll(() => page.getByTestId("stop").isVisible()).toBe(true);
    // Now even a harmless command asks, and the card gives the reason.
    await core.open("asked");
    const question = page.getByTestId("question");
    await question.waitFor();
    await expect.poll(() => question.innerText()).toContain(say("ask.why.mode"));
    await question.getByTestId("question-once").click();
    await expect.poll(() => question.count()).toBe(0);
    await mode.click();
    await pick(page, say("mode.autonomous"));
    await expect.poll(() => mode.innerText()).toBe(say("mode.autonomous"));
    await core.open("autonomous");
    await page.locator('[data-testid="turn-end"][data-end="finished"]').waitFor();
    await expect.poll(() => page.getByText("rm -r target").count()).toBeGreaterThan(0);
    await expect.poll(() => question.count()).toBe(0);
    // Another session keeps its own mode.
    await row(page, "Reply to the landlord").click();
    await expect.poll(() => mode.innerText()).toBe(say("mode.ask_risky"));
    await close(page);
  });
});

it("nothing wrote an error or a warning to its console", () => {
  expect(stage.faults).toEqual([]);
});
