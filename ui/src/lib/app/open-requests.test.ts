// @vitest-environment jsdom
import { type Transport, useTransport } from "$lib/ipc";
import type { OpenRequest, Request } from "$lib/ipc/types";
import { setLanguage } from "$lib/words/words.svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { newDraft } from "./drafts.svelte";
import { openRequests } from "./open-requests.svelte";
import { navigation } from "./navigation.svelte";
import { toasts } from "./toasts.svelte";

let calls: Request["call"][] = [];
let waiting: OpenRequest[] = [];
let poke: () => void = () => undefined;
let deliverDraft: (draft: unknown) => void = () => undefined;
const transport: Transport = {
  request: (request) => {
    calls.push(request.call);
    const { call } = request;
    if (call.type === "take_errands") {
      const requests = waiting;
      waiting = [];
      return Promise.resolve({ type: "errands", errands: requests });
    }
    if (call.type === "get_new_draft") return new Promise((done) => (deliverDraft = done));
    if (call.type === "open_session") return Promise.reject({ key: "session.unknown", args: {}, retryable: false });
    return Promise.resolve({ type: "done" });
  },
  subscribe: () => Promise.resolve(() => undefined),
  onFileDrop: () => () => undefined,
  onErrand: (handler) => {
    poke = handler;
    return () => undefined;
  },
  blobUrl: (hash) => hash,
};
const callsOf = (type: string) => calls.filter((call) => call.type === type);

beforeEach(async () => {
  await setLanguage("en");
  calls = [];
  toasts.list = [];
  useTransport(transport);
});

describe("open requests", () => {
  it("that arrived before or after the page are carried out", async () => {
    waiting = [{ type: "open_settings", page: "rules" }];
    openRequests.begin();
    openRequests.begin();
    await vi.waitFor(() => expect(navigation.view).toEqual({ page: "settings", section: "rules" }));
    waiting = [{ type: "open_settings", page: "no_such_page" }];
    poke();
    await vi.waitFor(() => expect(navigation.view).toEqual({ page: "settings", section: "models" }));
    expect(callsOf("take_errands")).toHaveLength(2);
  });

  it("wait for the end of onboarding if they would leave it", async () => {
    navigation.welcome();
    await openRequests.run({ type: "open_settings", page: "rules" });
    expect(navigation.view).toEqual({ page: "welcome" });
    await openRequests.run({ type: "ask_closing", back: "tray" });
    expect(openRequests.closing).toBe("tray");
    openRequests.closing = null;
    navigation.fresh();
    await openRequests.release();
    expect(navigation.view).toEqual({ page: "settings", section: "rules" });
    navigation.fresh();
    await openRequests.release();
    expect(navigation.view).toEqual({ page: "new", folder: null });
  });

  it("open the tasks page for a run without a session", async () => {
    await openRequests.run({ type: "open_tasks" });
    expect(navigation.view).toEqual({ page: "tasks" });
  });

  it("append the text of a link to the draft, mark its origin and send nothing", async () => {
    const draft = newDraft();
    draft.text = "My own words";
    await openRequests.run({ type: "new_session", prompt: "Delete everything", folder: "/srv", from: "link" });
    expect(navigation.view).toEqual({ page: "new", folder: "/srv" });
    expect([draft.text, draft.foreign], "the kept draft is not there yet").toEqual(["My own words", false]);
    deliverDraft({ text: "Kept. ", attachments: [], foreign: false });
    await vi.waitFor(() => expect(draft.text).toBe("Kept. My own words\n\nDelete everything"));
    expect(draft.foreign).toBe(true);
    expect(calls.map((call) => call.type)).not.toContain("start_session");
    draft.take();
    await openRequests.run({ type: "new_session", prompt: "Mine", folder: null, from: "person" });
    expect([draft.text, draft.foreign]).toEqual(["Mine", false]);
  });

  it("that fail show an error", async () => {
    await openRequests.run({ type: "refused", error: { key: "link.unknown", args: {}, retryable: false } });
    const before = navigation.view;
    await openRequests.run({ type: "open_session", session: "0".repeat(32) });
    expect(toasts.list.map((toast) => toast.failure)).toEqual([true, true]);
    expect(navigation.view).toBe(before);
  });

  it("ask what closing does, and report that the person stays", async () => {
    await openRequests.run({ type: "ask_closing", back: "tray" });
    expect(openRequests.closing).toBe("tray");
    await openRequests.close(null);
    expect([openRequests.closing, callsOf("stay_open").length, callsOf("quit").length]).toEqual([null, 1, 0]);
    await openRequests.close("quit");
    expect(callsOf("quit")).toHaveLength(1);
  });

  it("report once which session is on screen", () => {
    openRequests.reportSession("a");
    openRequests.reportSession("a");
    openRequests.reportSession(null);
    expect(callsOf("look")).toEqual([
      { type: "look", window: 0, session: "a" },
      { type: "look", window: 0, session: null },
    ]);
  });
});
