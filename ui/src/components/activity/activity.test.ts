// @vitest-environment jsdom
import { activity } from "$lib/app/activity.svelte";
import { sessionList } from "$lib/app/session-list.svelte";
import { navigation } from "$lib/app/navigation.svelte";
import { preferences } from "$lib/app/preferences.svelte";
import { pressed } from "$lib/app/shortcuts";
import { toasts } from "$lib/app/toasts.svelte";
import { testids } from "$lib/testids";
import { ReplayCore } from "$lib/testing/replay-core";
import { installStubs, until, within, words } from "$lib/testing/dom";
import { setLanguage } from "$lib/words/words.svelte";
import { flushSync, mount, unmount, type Component } from "svelte";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import BehaviourPage from "../settings/BehaviourPage.svelte";
import SessionRow from "../sidebar/SessionRow.svelte";
import Sidebar from "../sidebar/Sidebar.svelte";
import ActivityView from "./ActivityView.svelte";

const WORKS = "d0000000000000000000000000000001";

const replayed = new ReplayCore();
const { requests } = replayed;
let mounted: Record<string, unknown>[] = [];
const target = document.createElement("div");

const { all, get } = within(target);
const findByName = (name: string): HTMLElement => {
  const match = all(testids.activityRow).find((row) => words(row).startsWith(name));
  if (!match) throw new Error(`no ${name}`);
  return match;
};
const stopOf = (row: HTMLElement): HTMLButtonElement => {
  const stop = row.querySelector<HTMLButtonElement>(`[data-testid="${testids.activityStop}"]`);
  if (!stop) throw new Error("no stop");
  return stop;
};
const show = (component: Component): void => {
  mounted.push(mount(component, { target }));
  flushSync();
};

beforeAll(() => {
  vi.setConfig({ testTimeout: 20_000 });
  installStubs();
});

async function begin(query = ""): Promise<void> {
  history.replaceState(null, "", `/?fast${query}`);
  await replayed.begin("main");
  await preferences.begin();
  await sessionList.begin();
  activity.begin();
  navigation.activity();
}

beforeEach(async () => {
  document.body.append(target);
  await setLanguage("en");
});

afterEach(async () => {
  for (const component of mounted) await unmount(component);
  mounted = [];
  toasts.list = [];
  target.remove();
});

describe("the activity page", () => {
  it("lists work by kind with its status, start time and cost", async () => {
    await begin();
    show(ActivityView);
    await until(() => expect(all(testids.activityRow).length).toBeGreaterThan(4));
    const heads = [...target.querySelectorAll("h2.activity-head")].map(words);
    expect(heads.map((head) => head.replace(/\d+$/, ""))).toEqual([
      "Sessions",
      "Tasks",
      "Sub-agents",
      "Background commands",
    ]);
    const session = findByName("Resume uploads");
    expect(session.dataset["status"]).toBe("working");
    expect(words(session)).toMatch(/Working · 12 steps · ~\/code\/harbor.*3 min.*\$0\.38/);
    expect(session.querySelector(".activity-cost")?.getAttribute("title")).toBe("$0.38, 412k tokens");
    expect(words(findByName("Move settings to TOML"))).toContain("Waiting for your answer");
    expect(words(findByName("Morning brief"))).toContain("Queued: next to start");
    expect(words(findByName("code-explorer"))).toContain("in “Resume uploads after a dropped connection”");
    const command = findByName("npm run dev");
    expect(words(command)).toMatch(/38 min/);
    expect(command.querySelector(".activity-cost")?.textContent).toBe("");
    expect(words(get(testids.activitySlots))).toBe("1 of 4 slots in use");
  });

  it("announces the number of items of each status", async () => {
    await begin();
    show(ActivityView);
    const announcement = get(testids.activityAnnouncer);
    expect(announcement.getAttribute("role")).toBe("status");
    await until(() => expect(words(announcement)).toBe("3 working, 3 waiting for you, 1 queued"));
    await setLanguage("zh");
    await until(() => expect(words(announcement)).toMatch(/3 项工作中.*3 项等你回答.*1 项排队中/));
  });

  it("opens the session or page of a row", async () => {
    await begin();
    show(ActivityView);
    await until(() => expect(all(testids.activityRow).length).toBeGreaterThan(4));
    findByName("npm run dev").querySelector<HTMLElement>(`[data-testid="${testids.activityOpen}"]`)?.click();
    expect(navigation.current?.id).toBe(WORKS);
    navigation.activity();
    findByName("Morning brief").querySelector<HTMLElement>(`[data-testid="${testids.activityOpen}"]`)?.click();
    expect(navigation.view.page).toBe("tasks");
  });

  it("stops one item by its row's labelled button", async () => {
    await begin();
    show(ActivityView);
    await until(() => expect(all(testids.activityRow).length).toBeGreaterThan(4));
    const stop = stopOf(findByName("npm run dev"));
    expect(stop.getAttribute("aria-label")).toBe("Stop npm run dev -- --port 4173");
    stop.click();
    expect(replayed.last("stop_activity")).toMatchObject({ id: { type: "command", session: WORKS, handle: "1" } });
    await until(() => expect(all(testids.activityRow).some((row) => words(row).startsWith("npm run dev"))).toBe(false));
    replayed.refuse = "stop_activity";
    const refused = stopOf(findByName("Resume uploads"));
    refused.click();
    flushSync();
    expect(refused.getAttribute("aria-disabled")).toBe("true");
    refused.click();
    expect(requests.filter((call) => call.type === "stop_activity").length).toBe(2);
    await until(() => expect(toasts.list.length).toBe(1));
    await until(() => expect(refused.getAttribute("aria-disabled")).toBe("false"));
    expect(findByName("Resume uploads").dataset["status"]).toBe("working");
  });

  it("asks before stopping everything, and stops nothing on Cancel", async () => {
    await begin();
    show(ActivityView);
    await until(() => expect(all(testids.activityRow).length).toBe(7));
    const dialog = get(testids.activityDialog) as HTMLDialogElement;
    get(testids.activityStopAll).click();
    await until(() => expect(dialog.open).toBe(true));
    expect(words(dialog)).toContain("Stop 7 running items?");
    await until(() => expect(words(document.activeElement ?? target)).toBe("Keep running"));
    (document.activeElement as HTMLElement).click();
    expect(dialog.open).toBe(false);
    expect(replayed.last("stop_all_activity")).toBeUndefined();
    get(testids.activityStopAll).click();
    get(testids.activityConfirm).click();
    await until(() => expect(words(get(testids.activityEmpty))).toContain("Nothing is running"));
    await until(() => expect(toasts.list.at(-1)?.text).toBe("7 stopped."));
    expect((get(testids.activityStopAll) as HTMLButtonElement).disabled).toBe(true);
    expect(words(get(testids.activityAnnouncer))).toBe("");
  });

  it("moves the focus from a finished row to the next one, and finally to the title", async () => {
    await begin();
    show(ActivityView);
    await until(() => expect(all(testids.activityRow).length).toBe(7));
    const stops = (): HTMLElement[] => all(testids.activityStop);
    const next = all(testids.activityRow)[3]?.dataset["kind"];
    const third = stops()[2];
    third?.focus();
    third?.click();
    await until(() => expect(third?.isConnected).toBe(false));
    await until(() => expect(stops()).toContain(document.activeElement));
    expect(document.activeElement?.closest("li")?.dataset["kind"]).toBe(next);
    const { state } = replayed.core.activity;
    replayed.core.publish("activity", { type: "activity", state: { ...state, rows: [] } });
    await until(() => expect(document.activeElement?.tagName).toBe("H1"));
  });

  it("closes the question when everything has ended", async () => {
    await begin();
    show(ActivityView);
    await until(() => expect(all(testids.activityRow).length).toBe(7));
    get(testids.activityStopAll).click();
    const dialog = get(testids.activityDialog) as HTMLDialogElement;
    expect(dialog.open).toBe(true);
    const { state } = replayed.core.activity;
    replayed.core.publish("activity", { type: "activity", state: { ...state, rows: [] } });
    await until(() => expect(dialog.open).toBe(false));
  });

  it("updates running times and removes items that end elsewhere", async () => {
    await begin();
    show(ActivityView);
    await until(() => expect(all(testids.activityRow).length).toBe(7));
    const before = words(findByName("code-explorer"));
    await until(() => expect(words(findByName("code-explorer"))).not.toBe(before));
    await replayed.core.answer({ domain: "sessions", call: { type: "stop", session: WORKS } });
    // The processes it started end with it.
    await until(() => expect(all(testids.activityRow).length).toBe(3));
  });

  it("shows an empty state when nothing runs", async () => {
    await begin("&no-activity");
    show(ActivityView);
    await until(() => expect(words(get(testids.activityEmpty))).toContain("Nothing is running"));
    expect(all(testids.activityRow)).toEqual([]);
  });
});

describe("a queued session", () => {
  it("shows its position in the queue until it runs", async () => {
    await begin("&queued");
    const info = sessionList.sessions.find(({ id }) => id === WORKS);
    if (!info) throw new Error("not in the list");
    const nothing = (): void => undefined;
    const props = { info, current: false, now: 0, renaming: false, onmenu: nothing, onrenamed: nothing };
    mounted.push(mount(SessionRow, { target, props }));
    await until(() => expect(words(get(testids.sessionRow))).toContain("Queued behind 2 others"));
    const { state } = replayed.core.activity;
    const rows = state.rows.map((row) => ({ ...row, status: { type: "working" as const } }));
    replayed.core.publish("activity", { type: "activity", state: { ...state, rows } });
    await until(() => expect(words(get(testids.sessionRow))).toMatch(/^Running/));
  });

  it("is counted in the sidebar", async () => {
    await begin("&queued");
    show(Sidebar);
    await until(() => expect(words(get(testids.openActivity))).toContain("7"));
    expect(words(get(testids.openActivity))).toContain("2 working, 3 waiting for you, 2 queued");
    expect(get(testids.openActivity).getAttribute("aria-keyshortcuts")).toBe("Control+J");
    get(testids.openActivity).click();
    flushSync();
    expect(get(testids.openActivity).getAttribute("aria-current")).toBe("page");
    expect(activity.ahead(WORKS)).toBe(2);
  });

  it("opens the activity page by its shortcut", () => {
    const event = new KeyboardEvent("keydown", { key: "j", ctrlKey: true });
    expect(pressed(event, "typing")?.id).toBe("activity");
  });
});

describe("the limit of simultaneous turns", () => {
  it("is set from 1 to 16", async () => {
    await begin();
    show(BehaviourPage);
    const field = get(testids.liveTurns) as HTMLInputElement;
    expect(field.value).toBe("4");
    const type = (text: string): void => {
      field.value = text;
      field.dispatchEvent(new Event("input", { bubbles: true }));
      field.dispatchEvent(new Event("change", { bubbles: true }));
      field.dispatchEvent(new Event("blur", { bubbles: true }));
      flushSync();
    };
    for (const wrong of ["0", "17", "two", ""]) {
      type(wrong);
      expect(words(target)).toContain("Enter a whole number from 1 to 16.");
      expect(replayed.last("change_settings")).toBeUndefined();
    }
    type("2");
    await until(() => expect(preferences.settings?.live_turns).toBe(2));
  });
});
