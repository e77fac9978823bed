// @vitest-environment jsdom
import { tasksState } from "$lib/app/tasks-state.svelte";
import { newDraft } from "$lib/app/drafts.svelte";
import { sessionList } from "$lib/app/session-list.svelte";
import { navigation } from "$lib/app/navigation.svelte";
import { preferences } from "$lib/app/preferences.svelte";
import { taskEdits } from "$lib/app/task-edit.svelte";
import { toasts } from "$lib/app/toasts.svelte";
import { testids } from "$lib/testids";
import { ReplayCore } from "$lib/testing/replay-core";
import { installStubs, until, within, words } from "$lib/testing/dom";
import { setLanguage } from "$lib/words/words.svelte";
import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import Sidebar from "../sidebar/Sidebar.svelte";
import TasksView from "./TasksView.svelte";

const replayed = new ReplayCore();
let mounted: Record<string, unknown> | null = null;
const target = document.createElement("div");

const { all, get } = within(target);
const rows = (): string[] => all(testids.scheduleRow).map((row) => row.dataset["file"] ?? "");
const toast = (): string => toasts.list.at(-1)?.text ?? "";
function row(file: string): HTMLElement {
  const row = all(testids.scheduleRow).find((row) => row.dataset["file"] === file);
  if (!row) throw new Error(`no ${file}`);
  return row;
}
const runs = (): (string | undefined)[] => all(testids.run).map((run) => run.dataset["status"]);
const faults = (): Record<string, string> =>
  Object.fromEntries(all(testids.scheduleError).map((fault) => [fault.dataset["field"] ?? "", words(fault)]));

function type(id: string, text: string, index = 0): void {
  const field = all(id)[index] as HTMLInputElement | undefined;
  if (!field) throw new Error(`no ${id}`);
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  flushSync();
}
function choose(id: string, value: string): void {
  const field = get(id) as HTMLSelectElement;
  field.value = value;
  field.dispatchEvent(new Event("change", { bubbles: true }));
  flushSync();
}
function click(id: string): void {
  get(id).click();
  flushSync();
}
async function pick(label: string): Promise<void> {
  const menu = get(testids.scheduleMore).nextElementSibling;
  if (!menu) throw new Error("no menu");
  // Emulates the browser's reaction to the button.
  menu.dispatchEvent(Object.assign(new Event("beforetoggle"), { newState: "open" }));
  flushSync();
  const entry = [...menu.querySelectorAll<HTMLElement>(".menu-item")].find((item) => words(item) === label);
  if (!entry) throw new Error(`no ${label} in ${words(menu)}`);
  entry.click();
  flushSync();
}
async function select(file: string): Promise<void> {
  row(file).click();
  await until(() => expect(get(testids.schedule).dataset["file"]).toBe(file));
}

beforeAll(() => {
  vi.setConfig({ testTimeout: 20_000 });
  installStubs();
});

async function begin(query: string): Promise<void> {
  history.replaceState(null, "", `/?fast${query}`);
  await replayed.begin("main");
  await preferences.begin();
  await sessionList.begin();
  tasksState.begin();
  navigation.tasks();
  mounted = mount(TasksView, { target });
}

beforeEach(async () => {
  document.body.append(target);
  await setLanguage("en");
  await begin("");
  await until(() => expect(rows().length).toBeGreaterThan(5));
});

afterEach(async () => {
  if (mounted) await unmount(mounted);
  mounted = null;
  taskEdits.clear();
  toasts.list = [];
  target.remove();
});

describe("the schedule's switch", () => {
  it("shows that no task runs on schedule, links to the setting and supplies the defaults", async () => {
    expect(all(testids.tasksOff)).toEqual([]);
    await preferences.change({ tasks: { at_their_times: "off", missed: "ask", tell: "nothing" } });
    await unmount(mounted ?? {});
    mounted = mount(TasksView, { target });
    await until(() => get(testids.tasksOff));
    click(testids.tasksNew);
    await until(() => get(testids.scheduleName));
    const form = taskEdits.get(null)?.form;
    expect([form?.missed, form?.tell]).toEqual(["ask", "nothing"]);
    get(testids.tasksOff).querySelector("button")?.click();
    expect(navigation.view).toMatchObject({ page: "settings", section: "tasks" });
  });
});

describe("the list of tasks", () => {
  it("shows each task's schedule, last result and pending question", async () => {
    await until(() => expect(words(get(testids.tasks))).toContain("1 running, 4 waiting for you"));
    expect(words(row("morning-issue-digest"))).toContain("Morning issue digest Every day, 08:00");
    expect(row("morning-issue-digest").dataset["mark"]).toBe("none");
    expect(words(row("watch-flats"))).toMatch(/^Running Watch flat.*Every 2 hours, 8–20.*Running, \d:\d\d$/);
    expect(words(row("staging-certificates"))).toMatch(/^Waiting for you.*1st of the month, 09:00.*Needs you$/);
    expect(words(row("cloud-bills"))).toMatch(/^Failed Compare cloud bills Mondays, 10:00.*Over budget$/);
    expect(words(row("clean-downloads"))).toContain("Paused");
    expect(words(row("rebuild-index"))).toMatch(/Once, .* 22:00.*Never$/);
    expect(words(row("notes-of-old"))).toBe("Cannot be read notes-of-old.md Cannot be read");
    expect(words(row("clean-branches"))).toContain("Needs review");
    // Its times are in another time zone than this computer's.
    expect(words(row("weekly-expenses"))).toContain("Fridays, 17:00 Asia/Shanghai");
    // With no task selected, the runs of all tasks are listed with their task's name.
    expect(words(get(testids.runs))).toContain("Watch flat listings in Santos");
  });

  it("reloads after a change", async () => {
    replayed.core.schedule.finish("watch-flats", { result: "2 new flats" });
    await until(() => expect(row("watch-flats").dataset["mark"]).toBe("none"));
    await until(() => expect(words(get(testids.tasks))).toContain("4 waiting for you"));
  });

  it("shows why it cannot be read and retries", async () => {
    replayed.refuse = "list_tasks";
    replayed.core.schedule.touch("watch-flats", { name: "Flats" });
    await until(() => expect(words(target)).toContain("The disk is full."));
    replayed.refuse = null;
    [...target.querySelectorAll("button")].find((button) => words(button) === "Retry")?.click();
    await until(() => expect(words(row("watch-flats"))).toContain("Flats"));
    expect(words(target)).not.toContain("The disk is full.");
  });

  it("is navigable by keyboard", () => {
    const names = [...target.querySelectorAll<HTMLElement>("[data-row-open]")];
    names[0]?.focus();
    names[0]?.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true, cancelable: true }));
    expect(document.activeElement).toBe(names[1]);
  });

  it("shows its pending questions in the sidebar", async () => {
    if (mounted) await unmount(mounted);
    navigation.fresh();
    mounted = mount(Sidebar, { target });
    await until(() => expect(words(get(testids.openTasks))).toBe("Tasks44 waiting for you"));
    click(testids.openTasks);
    expect(navigation.view).toEqual({ page: "tasks" });
  });

  it("starts a session that writes a task from a description", async () => {
    click(testids.tasksDescribe);
    expect(navigation.view).toEqual({ page: "new", folder: "/home/mei/code/harbor" });
    await until(() => expect(newDraft().text).toBe("/cron-task-creator "));
    newDraft().text = "";
  });
});

describe("a task", () => {
  it("shows its plan and every run with cause, duration, cost and session", async () => {
    await select("morning-issue-digest");
    const shownWords = words(get(testids.schedule));
    for (const part of [
      "Read the issues opened in harbor since yesterday",
      "If missed Runs once when the computer wakes",
      "Folder ~/code/harbor",
      "Model, mode Default model, Ask before risky actions, General",
      "Limits $0.25 per run, 10 min, 2 retries",
      "Notifications When it fails or asks",
      "File ~/.octo/tasks/morning-issue-digest.md",
    ])
      expect(shownWords).toContain(part);
    await until(() => expect(runs().slice(0, 5)).toEqual(["finished", "finished", "finished", "failed", "skipped"]));
    const listed = all(testids.run).map(words);
    expect(listed[0]).toMatch(/08:00 7 issues, 3 areas 1:12 \$0\.04$/);
    expect(listed[2]).toContain("Late: 5 issues, 2 areas");
    expect(listed[3]).toContain("overloaded");
    expect(listed[4]).toContain("Skipped: the last run was not finished");
    expect(words(get(testids.runs))).toMatch(/Last 30 days: \d+ done, 2 failed, 1 skipped, \$0\.\d\d/);
    const link = get(testids.runSession);
    link.click();
    expect(navigation.view.page).toBe("session");
    navigation.fresh();
  });

  it("loads older runs on request", async () => {
    await select("morning-issue-digest");
    await until(() => expect(runs()).toHaveLength(20));
    click(testids.runsMore);
    await until(() => expect(runs()).toHaveLength(38));
    expect(all(testids.runsMore)).toHaveLength(0);
    // Loaded runs survive a change.
    replayed.core.schedule.finish("watch-flats", {});
    await until(() => expect(row("watch-flats").dataset["mark"]).toBe("none"));
    expect(runs()).toHaveLength(38);
    expect(new Set(all(testids.run).map((run) => run.dataset["run"])).size).toBe(38);
  });

  it("runs now and can be stopped", async () => {
    await select("back-up-notes");
    await until(() => expect(runs()).toEqual(["finished"]));
    click(testids.scheduleRun);
    await until(() => expect(runs()).toEqual(["running", "finished"]));
    expect(toast()).toBe("Back up the notes folder is running");
    expect(get(testids.scheduleRun)).toHaveProperty("disabled", true);
    click(testids.runStop);
    await until(() => expect(runs()).toEqual(["stopped", "finished"]));
    expect(words(all(testids.run)[0] ?? target)).toContain("Manual: You stopped it");
    await until(() => expect(get(testids.scheduleRun)).toHaveProperty("disabled", false));
  });

  it("can be paused, resumed and duplicated", async () => {
    await select("back-up-notes");
    click(testids.scheduleSwitch);
    await until(() => expect(words(get(testids.schedule))).toContain("None while paused"));
    expect(replayed.last("switch_task")).toMatchObject({ task: "back-up-notes", on: "off" });
    click(testids.scheduleSwitch);
    await until(() => expect(words(get(testids.schedule))).toMatch(/Next runs T(?:oday|omorrow) 03:00/));
    await pick("Duplicate");
    await until(() => expect(get(testids.schedule).dataset["file"]).toBe("back-up-notes-2"));
    expect(row("back-up-notes-2").dataset["mark"]).toBe("paused");
  });

  it("moves to the trash and can be restored", async () => {
    await select("back-up-notes");
    await pick("Delete");
    await until(() => expect(toasts.list.at(-1)?.action?.label).toBe("Undo"));
    expect(toast()).toBe("Back up the notes folder moved to the trash");
    expect(rows()).not.toContain("back-up-notes");
    expect(all(testids.schedule)).toHaveLength(0);
    toasts.list.at(-1)?.action?.run();
    await until(() => expect(rows()).toContain("back-up-notes"));
  });

  it("from elsewhere is shown in full and runs only once accepted", async () => {
    await select("clean-branches");
    expect(words(get(testids.schedule))).toContain("Never touch main or release branches.");
    expect(words(get(testids.schedule))).toContain("No one can say no");
    expect(words(get(testids.schedule))).toContain("no budget, 60 min");
    expect(get(testids.scheduleRun)).toHaveProperty("disabled", true);
    replayed.core.schedule.touch("clean-branches", { prompt: "Delete everything." });
    await until(() => expect(words(get(testids.schedule))).toContain("Delete everything."));
    click(testids.scheduleAccept);
    await until(() => expect(all(testids.scheduleUnseen)).toHaveLength(0));
    // Sends the version last shown.
    expect(replayed.last("accept_task")).toEqual({ type: "accept_task", task: "clean-branches", version: "1+" });
    expect(get(testids.scheduleRun)).toHaveProperty("disabled", false);
  });

  it("that cannot be read shows the error, its content and its file", async () => {
    await select("notes-of-old");
    expect(words(get(testids.scheduleBroken))).toContain("Correct it in an editor");
    expect(words(get(testids.schedule))).toContain("when: every blue moon");
    expect(all(testids.scheduleRun)).toHaveLength(0);
    click(testids.scheduleReveal);
    await until(() =>
      expect(replayed.last("reveal")).toEqual({ type: "reveal", path: "/home/mei/.octo/tasks/notes-of-old.md" }),
    );
  });

  it("offers to run or skip a missed run", async () => {
    await select("nightly-import");
    await until(() => expect(runs()).toEqual(["asked"]));
    expect(words(all(testids.run)[0] ?? target)).toContain("Missed. Run it now?");
    click(testids.runMissedSkip);
    await until(() => expect(runs()).toEqual(["skipped"]));
    expect(words(get(testids.run))).toContain("Skipped: you said no");
    expect(replayed.last("answer_missed")).toMatchObject({ answer: "skip" });
  });
});

describe("the form of a task", () => {
  const plain = async (): Promise<void> => {
    click(testids.tasksNew);
    type(testids.scheduleName, "Report");
    type(testids.schedulePrompt, "Write the report.");
  };

  it("describes its schedule and the next three times before it is saved", async () => {
    click(testids.tasksNew);
    await until(() =>
      expect(get(testids.schedulePreview).ariaBusy ?? get(testids.schedulePreview).getAttribute("aria-busy")).toBe(
        "false",
      ),
    );
    const preview = (): string => words(get(testids.schedulePreview));
    expect(preview()).toMatch(/^Every day, 08:00 T(?:oday|omorrow) 08:00.*08:00.*08:00$/);
    for (const day of ["saturday", "sunday"]) click(`${testids.scheduleWeekday}-${day}`);
    type(testids.scheduleTime, "9.30");
    await until(() => expect(preview()).toMatch(/^Mon–Fri, 09:30 .*09:30.*09:30.*09:30$/));
    choose(testids.scheduleKind, "monthly");
    click(`${testids.scheduleDay}-15`);
    await until(() => expect(preview()).toMatch(/^1st, 15th of the month, 09:30 .*09:30/));
    choose(testids.scheduleKind, "cron");
    type(testids.scheduleCron, "0 9 1-7 * 1");
    await until(() => expect(preview()).toContain("Cron 0 9 1-7 * 1"));
    expect(preview()).toContain("Check the times above.");
    choose(testids.scheduleKind, "by_hand");
    await until(() => expect(preview()).toContain("runs only when you start it"));
    expect(replayed.last("save_task")).toBeUndefined();
  });

  it("is checked once typing pauses, using only the last reply", async () => {
    const answers: ((next: number[]) => void)[] = [];
    replayed.instead = (call) =>
      call.type === "preview_task"
        ? new Promise((done) => answers.push((next) => done({ next, errors: [], remarks: [] })))
        : undefined;
    await plain();
    type(testids.scheduleTime, "9");
    await until(() => expect(answers).toHaveLength(1));
    type(testids.scheduleTime, "10");
    await until(() => expect(answers).toHaveLength(2));
    const time = (hour: number): number => new Date(2030, 0, 1, hour).getTime();
    answers[1]?.([time(10)]);
    await until(() => expect(words(get(testids.schedulePreview))).toContain("10:00"));
    answers[0]?.([time(9)]);
    await Promise.resolve();
    await until(() => expect(words(get(testids.schedulePreview))).toMatch(/Jan 2030 10:00$/));
  });

  it("shows each field's error once the field is edited or the form submitted", async () => {
    click(testids.tasksNew);
    expect(faults()).toEqual({});
    type(testids.scheduleBudget, "much");
    expect(faults()).toEqual({ budget: "Enter an amount such as 0.50, or leave empty for no limit." });
    type(testids.scheduleTime, "25");
    expect(Object.keys(faults())).toEqual(["when", "budget"]);
    expect(words(get(testids.schedulePreview))).toContain("once the schedule is complete");
    click(testids.scheduleSave);
    await until(() => expect(Object.keys(faults())).toEqual(["name", "prompt", "when", "budget"]));
    await until(() => expect(document.activeElement).toBe(get(testids.scheduleName)));
    expect(replayed.last("save_task")).toBeUndefined();
  });

  it("shows the core's errors and warnings at their fields", async () => {
    replayed.instead = (call) =>
      call.type === "preview_task"
        ? {
            next: [],
            errors: [
              { field: "folder", error: { key: "session.folder_gone", args: { folder: "/gone" }, retryable: false } },
            ],
            remarks: [{ key: "store.full", args: {}, retryable: false }],
          }
        : undefined;
    await plain();
    await until(() => expect(words(get(testids.scheduleWarning))).toContain("The disk is full."));
    expect(faults()).toEqual({});
    type(testids.scheduleFolder, "/gone");
    await until(() => expect(faults()["folder"]).toContain("The folder /gone does not exist."));
    click(testids.scheduleSave);
    await until(() => expect(document.activeElement).toBe(get(testids.scheduleFolder)));
    expect(replayed.last("save_task")).toBeUndefined();
  });

  it("warns about unattended autonomous runs", async () => {
    await plain();
    expect(all(testids.scheduleWarning)).toHaveLength(0);
    click(`${testids.scheduleMode}-autonomous`);
    expect(words(get(testids.scheduleWarning))).toContain("No one can say no");
  });

  it("saves a new task and shows it", async () => {
    await plain();
    type(testids.scheduleFolder, "/home/mei/notes");
    choose(testids.scheduleKind, "every");
    choose(testids.scheduleUnit, "days");
    type(testids.scheduleCount, "3");
    type(testids.scheduleFrom, "7");
    type(testids.scheduleBudget, "0,25");
    type(testids.scheduleMinutes, "15");
    type(testids.scheduleRetries, "0");
    click(`${testids.scheduleMissed}-ask`);
    click(`${testids.scheduleNotifications}-all`);
    click(testids.scheduleSave);
    await until(() => expect(get(testids.schedule).dataset["file"]).toBe("report"));
    expect(replayed.last("save_task")).toEqual({
      type: "save_task",
      task: null,
      version: null,
      plan: {
        ...{ name: "Report", prompt: "Write the report.", zone: "Europe/Berlin", folder: "/home/mei/notes" },
        when: { type: "every", count: 3, unit: "days", from: "07:00", until: null },
        ...{ profile: preferences.settings?.default_profile, mode: "ask_risky", model: null, budget: 250_000_000 },
        ...{ minutes: 15, retry: { times: 0, minutes: 0 }, missed: "ask", tell: "all" },
      },
    });
    expect(toast()).toBe("Report saved");
    expect(all(testids.scheduleForm)).toHaveLength(0);
  });

  it("keeps the draft when saving fails, also across pages", async () => {
    await plain();
    replayed.refuse = "save_task";
    click(testids.scheduleSave);
    await until(() => expect(words(get(testids.scheduleForm))).toContain("The disk is full."));
    expect(words(get(testids.scheduleForm))).toContain("Your text is kept here.");
    if (mounted) await unmount(mounted);
    mounted = mount(TasksView, { target });
    await until(() => expect(rows().length).toBeGreaterThan(5));
    expect(words(target)).toContain("ReportNot saved");
    click(testids.tasksNew);
    await until(() => expect((get(testids.scheduleName) as HTMLInputElement).value).toBe("Report"));
    click(testids.scheduleDiscard);
    await until(() => expect(all(testids.scheduleForm)).toHaveLength(0));
  });

  it("saves against the version it was read with and reports a conflict", async () => {
    await select("back-up-notes");
    click(testids.scheduleEdit);
    expect(get(testids.scheduleSave)).toHaveProperty("disabled", true);
    type(testids.scheduleName, "Notes");
    replayed.core.schedule.touch("back-up-notes", { prompt: "Theirs." });
    await until(() => get(testids.scheduleConflict));
    expect(get(testids.scheduleSave)).toHaveProperty("disabled", true);
    expect((get(testids.scheduleName) as HTMLInputElement).value).toBe("Notes");
    click(testids.scheduleKeepMine);
    click(testids.scheduleSave);
    await until(() => expect(replayed.last("save_task")).toMatchObject({ task: "back-up-notes", version: "1+" }));
    await until(() => expect(words(row("back-up-notes"))).toContain("Notes"));
  });

  it("can take the version saved elsewhere", async () => {
    await select("back-up-notes");
    click(testids.scheduleEdit);
    replayed.core.schedule.touch("back-up-notes", { prompt: "Theirs." });
    await until(() => get(testids.scheduleConflict));
    click(testids.scheduleTakeTheirs);
    expect((get(testids.schedulePrompt) as HTMLTextAreaElement).value).toBe("Theirs.");
    expect(all(testids.scheduleConflict)).toHaveLength(0);
    expect(words(get(testids.scheduleDiscard))).toBe("Cancel");
    click(testids.scheduleDiscard);
    await until(() => get(testids.scheduleEdit));
  });

  it("of a deleted task creates it again", async () => {
    await select("back-up-notes");
    click(testids.scheduleEdit);
    type(testids.scheduleName, "Notes again");
    await replayed.core.answer({ domain: "schedule", call: { type: "delete_task", task: "back-up-notes" } });
    await until(() => expect(words(get(testids.scheduleForm))).toContain("Saving creates it again."));
    click(testids.scheduleSave);
    await until(() => expect(replayed.last("save_task")).toMatchObject({ task: null, version: null }));
    await until(() => expect(rows()).toContain("notes-again"));
  });
});

describe("without tasks", () => {
  it("offers three examples that start with their plan", async () => {
    if (mounted) await unmount(mounted);
    await begin("&no-tasks");
    await until(() => expect(all(testids.tasksExample)).toHaveLength(3));
    expect(words(get(testids.tasksExample))).toContain("Mon–Fri, 08:00");
    all(testids.tasksExample)[2]?.click();
    await until(() => expect((get(testids.scheduleName) as HTMLInputElement).value).toBe("Watch a page"));
    expect((get(testids.scheduleFrom) as HTMLInputElement).value).toBe("08:00");
    expect(words(get(testids.schedulePreview))).toContain("Every 2 hours, 8–20");
  });
});
