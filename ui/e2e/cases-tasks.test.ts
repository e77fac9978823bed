/** The acceptance cases of scheduled tasks. */
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { current, row, say } from "./actions";
import { Stage, asked, close, drive } from "./stage";
import { TurnScript, command } from "./turn-script";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterAll(() => stage.end());

/** Opens the tasks page with one task shown. */
async function opened(file: string): Promise<Page> {
  const page = await stage.open({ scene: "main" });
  await page.getByTestId("open-tasks").click();
  await page.locator(`[data-file="${file}"] [data-row-open]`).click();
  await page.getByTestId("run").first().waitFor();
  return page;
}

const first = (page: Page): Locator => page.getByTestId("runs").getByTestId("run").first();

describe("tasks", () => {
  it("49. a schedule made with the picker shows plain text and the next three run times before it is saved", async () => {
    const page = await stage.open({ scene: "main" });
    await page.getByTestId("open-tasks").click();
    await page.getByTestId("tasks-new").click();
    await page.getByTestId("schedule-name").fill("Weekly report");
    await page.getByTestId("schedule-prompt").fill("Write what was done this week to report.md.");
    await page.getByTestId("schedule-kind").selectOption("weekly");
    const preview = page.getByTestId("schedule-preview");
    for (const day of ["monday", "tuesday", "wednesday", "thursday", "saturday", "sunday"])
      await page.getByTestId(`schedule-weekday-${day}`).click();
    await page.getByTestId("schedule-time").fill("17:30");
    const lines = async (): Promise<string[]> => (await preview.innerText()).split("\n").filter((line) => line !== "");
    await expect.poll(async () => (await lines()).join(" ")).toMatch(/Fridays, 17:30.*17:30.*17:30.*17:30/);
    // The moment is a Saturday: the next three Fridays.
    const [words, ...times] = await lines();
    expect(words).toBe("Fridays, 17:30");
    expect(times.slice(0, 3)).toEqual(["Fri 27 Nov 17:30", "Fri 4 Dec 17:30", "Fri 11 Dec 17:30"]);
    await expect.poll(() => asked(page, "save_task")).toEqual([]);
    await page.getByTestId("schedule-kind").selectOption("cron");
    await page.getByTestId("schedule-cron").fill("0 9 * * 1");
    await expect.poll(async () => (await lines())[0]).toBe("Mondays, 09:00");
    await expect.poll(async () => (await lines()).slice(1, 4)).toHaveLength(3);
    await page.getByTestId("schedule-save").click();
    await page.locator('[data-testid="schedule"][data-file="weekly-report"]').waitFor();
    await expect.poll(() => asked(page, "save_task")).toHaveLength(1);
    await close(page);
  });

  it("49. a schedule made in words shows plain text and the next three run times in the question before it is saved", async () => {
    const page = await stage.open({ scene: "compacted" });
    await page.getByTestId("open-tasks").click();
    await page.getByTestId("tasks-describe").click();
    // The person describes the task in a conversation, which starts with the matching command.
    await expect.poll(() => page.getByTestId("composer").inputValue()).toMatch(/^\/\S+/);
    await row(page, "Join two CSV").click();
    const model = await TurnScript.begin(page, await current(page), "Every Friday at half past five: the report");
    await model.message();
    const about = { name: "Weekly report", when: "Fridays, 17:30", zone: "Europe/Berlin", model: "claude-sonnet-4-5" };
    const next = "Fri 27 Nov 17:30, Fri 4 Dec 17:30, Fri 11 Dec 17:30";
    const preview = { type: "plain", text: say("taskdesk.plan", { ...about, next, prompt: "Write report.md." }) };
    const reason = { type: "library", change: "save_task" };
    await model.asks("terminal", command("octo task save weekly-report"), {
      type: "permission",
      preview,
      reason,
      rule: null,
    });
    const question = page.getByTestId("question");
    const words = await question.innerText();
    expect(words).toContain(say("ask.library.save_task"));
    expect(words).toContain("Fridays, 17:30");
    expect(words).toContain(next);
    await question.getByTestId("question-no").click();
    await expect.poll(() => question.count()).toBe(0);
    await close(page);
  });

  it("50. a time the computer slept over follows the task's policy, and the run list says so", async () => {
    const skips = await opened("cloud-bills");
    await expect.poll(() => skips.getByTestId("schedule").innerText()).toContain(say("tasks.missed.skip.sub"));
    const left = skips.locator('[data-testid="run"][data-status="skipped"]');
    await expect.poll(() => left.innerText()).toContain(say("tasks.skip.missed.other", { n: 2 }));
    await close(skips);

    const once = await opened("morning-issue-digest");
    await expect.poll(() => once.getByTestId("schedule").innerText()).toContain(say("tasks.missed.run_once.sub"));
    const late = once.getByTestId("run").filter({ hasText: say("tasks.cause.missed") });
    await expect.poll(() => late.count()).toBe(1);
    await expect.poll(() => late.getAttribute("data-status")).toBe("finished");
    await close(once);

    const asks = await opened("nightly-import");
    await expect.poll(() => asks.getByTestId("schedule").innerText()).toContain(say("tasks.missed.ask.sub"));
    await asks.getByTestId("run-missed-skip").click();
    await expect.poll(() => first(asks).getAttribute("data-status")).toBe("skipped");
    await close(asks);
  });

  it("52. Run now starts a run at once though no window shows it, and the history records the result", async () => {
    const page = await opened("morning-issue-digest");
    const before = await page.getByTestId("run").count();
    await page.getByTestId("schedule-run").click();
    await expect.poll(() => first(page).getAttribute("data-status")).toBe("running");
    // The task page stays open; the run does not replace it.
    await expect.poll(() => page.getByTestId("schedule").isVisible()).toBe(true);
    await expect.poll(() => page.getByTestId("schedule-run").isDisabled()).toBe(true);
    await page.getByTestId("new-session").click();
    await drive(page, { finished: { task: "morning-issue-digest", run: { result: "3 issues, 1 area" } } });
    await page.getByTestId("open-tasks").click();
    await page.locator('[data-file="morning-issue-digest"] [data-row-open]').click();
    await expect.poll(() => first(page).innerText()).toContain("3 issues, 1 area");
    await expect.poll(() => first(page).getAttribute("data-status")).toBe("finished");
    await expect.poll(() => first(page).innerText()).toContain(say("tasks.cause.hand"));
    await expect.poll(() => page.getByTestId("run").count()).toBeGreaterThanOrEqual(before);
    await close(page);
  });
});

it("nothing wrote an error or a warning to its console", () => {
  expect(stage.faults).toEqual([]);
});
