// @vitest-environment jsdom
import { sessionList } from "$lib/app/session-list.svelte";
import { preferences } from "$lib/app/preferences.svelte";
import type { SessionInfo } from "$lib/ipc/types";
import { testids } from "$lib/testids";
import { renderAllRows } from "$lib/testing/fake-layout";
import { mountStage } from "$lib/testing/mount";
import { until, words, write } from "$lib/testing/dom";
import { t } from "$lib/words/words.svelte";
import { flushSync } from "svelte";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import Sidebar from "./Sidebar.svelte";

const { replayed, target, show, close, all, get } = mountStage();

beforeAll(() => renderAllRows(".side-list"));
beforeEach(async () => {
  await replayed.begin("main");
  await preferences.begin();
  await sessionList.begin();
  show(Sidebar, {});
  await until(() => expect(all(testids.sessionRow).length).toBeGreaterThan(0));
});

describe("the list by folders", () => {
  const folders = () => all(testids.folderRow);
  const shownIds = () => all(testids.sessionRow).map((row) => row.dataset["session"]);
  const ofFolder = (folder: string) =>
    sessionList.sessions.filter((info) => info.folder === folder && !info.pinned && info.status !== "waiting");

  it("shows each folder with its sessions, the last used one open, below waiting sessions", async () => {
    const { settings } = preferences;
    if (!settings) throw new Error("no settings");
    await preferences.change({ appearance: { ...settings.appearance, list: "folder" } });
    await until(() => expect(folders().length).toBeGreaterThan(1));
    const newest = sessionList.sessions
      .filter((info) => !info.pinned && info.status !== "waiting")
      .toSorted((a, b) => b.updated_at - a.updated_at)[0];
    const first = folders()[0];
    expect(first?.title.endsWith(newest?.folder.split("/").at(-1) ?? "?")).toBe(true);
    await until(() => expect(first?.getAttribute("aria-expanded")).toBe("true"));
    const topSessions = sessionList.sessions
      .filter((info) => info.pinned || info.status === "waiting")
      .map(({ id }) => id);
    const inFirst = ofFolder(newest?.folder ?? "").map(({ id }) => id);
    await until(() => expect(new Set(shownIds())).toEqual(new Set([...topSessions, ...inFirst])));

    // Left closes it and right opens it again, as in a tree; with Alt the window handles the key.
    first?.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", altKey: true, bubbles: true }));
    flushSync();
    expect(first?.getAttribute("aria-expanded")).toBe("true");
    first?.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }));
    await until(() => expect(new Set(shownIds())).toEqual(new Set(topSessions)));
    folders()[1]?.click();
    await until(() => expect(shownIds().length).toBeGreaterThan(topSessions.length));

    // A new session appears without a reload.
    const info = { ...sessionList.sessions[0], id: "f".repeat(32), folder: "/quite/new", pinned: false } as SessionInfo;
    const updatedInfo = { ...info, status: "idle" as const, updated_at: Date.now() };
    replayed.core.emit({ type: "sessions" }, { type: "session_listed", info: updatedInfo });
    await until(() => expect(folders().some((row) => row.title === "/quite/new")).toBe(true));
    await preferences.change({ appearance: { ...settings.appearance, list: "time" } });
    await until(() => expect(folders().length).toBe(0));
  });
});

describe("runs of a task", () => {
  const fold = () => get(testids.runsRow);
  const runs = () => all(testids.sessionRow).filter((row) => row.textContent?.includes("Morning brief"));
  /** Turns listed sessions into runs of one task. */
  async function publish(sessions: readonly SessionInfo[], change: Partial<SessionInfo> = {}): Promise<void> {
    for (const info of sessions) {
      const task = { source: "task", title: "Morning brief", folder: "/x", profile: "general" } as const;
      const readState = { pinned: false, status: "idle", read_at: Infinity } as const;
      const updatedInfo: SessionInfo = { ...info, ...task, ...readState, ...change };
      replayed.core.emit({ type: "sessions" }, { type: "session_listed", info: updatedInfo });
    }
    await until(() => expect(all(testids.runsRow).length).toBeGreaterThan(0));
  }
  const press = (key: string): void => {
    fold().dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    flushSync();
  };

  it("unfold and fold by keyboard, except while one is being renamed", async () => {
    const untroubled = sessionList.sessions.filter(({ id }) => sessionList.trouble(id) === null);
    await publish(untroubled.slice(0, 6), { updated_at: Date.now() });
    expect([runs().length, words(fold())]).toEqual([1, "and 5 earlier runs"]);
    press("ArrowLeft");
    expect(fold().getAttribute("aria-expanded")).toBe("false");
    press("ArrowRight");
    await until(() => expect(runs().length).toBe(6));
    expect(all(testids.runsMarkRead)).toEqual([]);
    const third = runs()[2];
    third?.dispatchEvent(new KeyboardEvent("keydown", { key: "F2", bubbles: true }));
    [...target.querySelectorAll<HTMLElement>(".menu-item")]
      .find((item) => item.textContent?.includes(t("session.rename")))
      ?.click();
    await until(() => expect(target.querySelector(".row-field input")).toBeTruthy());
    press("ArrowLeft");
    await until(() => expect(words(fold())).toBe("and 4 earlier runs"));
    expect(target.querySelector(".row-field input"), "what is typed stays").toBeTruthy();
  });

  it("load exactly one more page if too few rows remain to scroll", async () => {
    await close();
    history.replaceState(null, "", "/?fast&sessions=400");
    await replayed.begin("main");
    await sessionList.begin();
    show(Sidebar, {});
    const list = get(testids.sessionList);
    Object.defineProperty(list, "clientHeight", { value: 600 });
    await until(() => expect(all(testids.sessionRow).length).toBeGreaterThan(0));
    const first = [...sessionList.sessions];
    expect([first.length, replayed.of("list_sessions").length]).toEqual([100, 0]);
    await publish(first, { updated_at: Date.now() });
    await until(() => expect(sessionList.sessions.length).toBe(200));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(replayed.of("list_sessions").length).toBe(1);
  });
});

describe("renaming a session in its row", () => {
  const input = () => target.querySelector<HTMLInputElement>(".row-field input");
  async function rename(): Promise<{ info: SessionInfo; field: HTMLInputElement }> {
    const row = get(testids.sessionRow);
    const info = sessionList.sessions.find(({ id }) => id === row.dataset["session"]);
    row.dispatchEvent(new KeyboardEvent("keydown", { key: "F2", bubbles: true }));
    const item = [...target.querySelectorAll<HTMLElement>(".menu-item")].find((item) =>
      item.textContent?.includes(t("session.rename")),
    );
    item?.click();
    await until(() => expect(input()).toBeTruthy());
    const field = input();
    if (!field || !info) throw new Error("no field");
    await until(() => expect(field.value).toBe(info.title));
    await Promise.resolve();
    field.focus();
    field.value = "half a na";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    flushSync();
    return { info, field };
  }

  it("keeps the typed name while the list changes", async () => {
    const { info, field } = await rename();
    for (const title of [info.title, "named elsewhere"]) {
      replayed.core.emit({ type: "sessions" }, { type: "session_listed", info: { ...info, title } });
      flushSync();
      await new Promise((resolve) => setTimeout(resolve, 10));
      expect([input(), field.value]).toEqual([field, "half a na"]);
    }
  });

  it("saves on a click elsewhere and leaves the focus there", async () => {
    await rename();
    get(testids.search).focus();
    await until(() => expect(input()).toBeNull());
    await until(() => expect(replayed.last("rename_session")?.title).toBe("half a na"));
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(document.activeElement).toBe(get(testids.search));
  });

  it("ends by keyboard with the focus in the row", async () => {
    for (const key of ["Escape", "Enter"]) {
      const { info, field } = await rename();
      field.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      const focused = () => (document.activeElement as HTMLElement).dataset["session"];
      await until(() => expect(focused()).toBe(info.id));
    }
    expect(replayed.of("rename_session").length).toBe(1);
  });
});

describe("the badges of a session row", () => {
  const row = (id: string): HTMLElement => {
    const row = target.querySelector<HTMLElement>(`[data-session="${id}"]`);
    if (!row) throw new Error(`no row of ${id}`);
    return row;
  };
  const marks = (id: string): string =>
    words(row(id).querySelector(`[data-testid=${testids.sessionMarks}]`) ?? row(id));

  it("show who started it and its profile in every state", async () => {
    const like = sessionList.sessions[0];
    if (!like) throw new Error("no session");
    const states: Partial<SessionInfo>[] = [
      { status: "idle", read_at: like.updated_at },
      { status: "idle", read_at: 0 },
      { status: "idle", pinned: true, read_at: like.updated_at },
      { status: "running" },
      { status: "waiting" },
      { status: "failed" },
    ];
    for (const state of states) {
      const info: SessionInfo = { ...like, pinned: false, source: "task", profile: "coding", ...state };
      replayed.core.emit({ type: "sessions" }, { type: "session_listed", info });
      await until(() => expect(marks(like.id)).toBe("Task Coding"));
      // The row's accessible name includes them too.
      expect(words(row(like.id))).toContain("Task Coding");
    }
  });

  it("are absent for the person's general sessions and distinct for a custom profile", async () => {
    const like = sessionList.sessions[0];
    if (!like) throw new Error("no session");
    const list = (change: Partial<SessionInfo>): void =>
      replayed.core.emit({ type: "sessions" }, { type: "session_listed", info: { ...like, ...change } });
    list({ source: "window", profile: "general" });
    await until(() => expect(row(like.id).querySelector(`[data-testid=${testids.sessionMarks}]`)).toBeNull());
    list({ source: "window", profile: "letters" });
    await until(() => expect(marks(like.id)).toBe("letters"));
  });
});

describe("searching", () => {
  const announcement = () => words(target.querySelector(".visually-hidden[role=status]") ?? target);
  const hits = (count: number) => ({
    hits: Array.from({ length: count }, (_, index) => ({
      info: { ...sessionList.sessions[0], id: `s${index}` },
      message: `m${index}`,
      snippet: "a heron",
      marks: [],
    })),
  });

  it.each([
    [0, "Nothing found"],
    [1, "0 sessions, 1 in messages"],
    [30, "0 sessions, 30 in messages"],
    [100, "0 sessions, 99 in messagesMore than 99 in messages; add a word"],
  ])("says and shows nothing before texts have answered with %i, then all of it", async (count, text) => {
    let answer: (hits: unknown) => void = () => undefined;
    replayed.instead = (call) =>
      call.type === "list_sessions"
        ? { sessions: [], total: 0 }
        : call.type === "search_sessions"
          ? new Promise((done) => (answer = done))
          : undefined;
    write(get(testids.search), "heron");
    await until(() => expect(replayed.of("search_sessions").length).toBe(1));
    const list = get(testids.sessionList);
    expect([announcement(), words(list)]).toEqual(["", ""]);
    answer(hits(count));
    await until(() => expect(announcement()).toBe(text));
    await until(() => expect(words(list)).toContain(count === 0 ? text : "In messages"));
  });
});

describe("filtering the list by folder", () => {
  const select = () => get(testids.filterFolder) as HTMLSelectElement;
  const offered = (): string[] => [...select().options].map((option) => option.value);
  function choose(value: string): void {
    select().value = value;
    select().dispatchEvent(new Event("change", { bubbles: true }));
    flushSync();
  }

  it("offers every folder of the listed sessions and the system's dialog", async () => {
    get(testids.filter).click();
    await until(() => select());
    for (const { folder } of sessionList.sessions) expect(offered()).toContain(folder);
    expect(offered().at(-1)).toBe("pick");

    replayed.instead = (call) => (call.type === "pick_folder" ? { type: "folder", path: "/srv/long-ago" } : undefined);
    choose("pick");
    await until(() => expect(replayed.last("list_sessions")?.filter).toEqual({ folder: "/srv/long-ago" }));
    expect([select().value, offered().includes("/srv/long-ago")]).toEqual(["/srv/long-ago", true]);

    // Cancelling the picker keeps the previous choice.
    replayed.instead = (call) => (call.type === "pick_folder" ? { type: "folder", path: null } : undefined);
    choose("pick");
    await until(() => expect(replayed.of("pick_folder").length).toBe(2));
    expect(select().value).toBe("/srv/long-ago");
    choose("");
    await until(() => expect(select().value).toBe(""));
  });
});
