// @vitest-environment jsdom
import type { RestoreOutcome } from "$lib/ipc/types";
import { setLanguage } from "$lib/words/words.svelte";
import { expect, it } from "vitest";
import { reportPaused } from "./trash-undo";
import { toasts } from "./toasts.svelte";

it("says all tasks that came back paused at once, and nothing of the rest", async () => {
  await setLanguage("en");
  const back = { id: "1", at: "/home/mei/a" };
  const done: RestoreOutcome = { type: "done", ...back };
  reportPaused([done]);
  expect(toasts.list).toEqual([]);
  const paused = ["Morning brief", "Accounts"].map((task): RestoreOutcome => ({ type: "paused", ...back, task }));
  reportPaused([done, ...paused]);
  const said = (): (string | undefined)[] => toasts.list.map(({ text }) => text);
  expect(said()).toEqual([expect.stringMatching(/^The tasks Morning brief, Accounts are back/)]);
  reportPaused(paused.slice(0, 1));
  expect(said()[1]).toMatch(/^The task Morning brief is back/);
});
