// @vitest-environment jsdom
import type { RestoreOutcome } from "$lib/ipc/types";
import { setLanguage } from "$lib/words/words.svelte";
import { expect, it } from "vitest";
import { reportPaused } from "./trash-undo";
import { toasts } from "./toasts.svelte";

it("reports all tasks restored paused in one toast, and no others", async () => {
  await setLanguage("en");
  const restoredEntry = { id: "1", at: "/home/mei/a" };
  const done: RestoreOutcome = { type: "done", ...restoredEntry };
  reportPaused([done]);
  expect(toasts.list).toEqual([]);
  const paused = ["Morning brief", "Accounts"].map((task): RestoreOutcome => ({
    type: "paused",
    ...restoredEntry,
    task,
  }));
  reportPaused([done, ...paused]);
  const toastTexts = (): (string | undefined)[] => toasts.list.map(({ text }) => text);
  expect(toastTexts()).toEqual([expect.stringMatching(/^The tasks Morning brief, Accounts are back/)]);
  reportPaused(paused.slice(0, 1));
  expect(toastTexts()[1]).toMatch(/^The task Morning brief is back/);
});
