// @vitest-environment jsdom
import { type Transport, useTransport } from "$lib/ipc";
import type { Draft, Message, Request } from "$lib/ipc/types";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { attachPaths } from "./attachments";
import { draftOf, flushDrafts, forgetDraft, newDraft, refreshDrafts, sentElsewhere } from "./drafts.svelte";
import { toasts } from "./toasts.svelte";

const nothing: Draft = { text: "", attachments: [], foreign: false };
const file = (path: string) => ({ type: "file" as const, path });
const picture = (blob: string) => ({ type: "image" as const, blob, media_type: "image/png", name: `${blob}.png` });

let calls: unknown[] = [];
let answer: (request: Request) => unknown = () => ({});
const transport: Transport = {
  request: (request) => {
    calls.push(request.call);
    return Promise.resolve().then(() => answer(request));
  },
  subscribe: () => Promise.resolve(() => undefined),
  onFileDrop: () => () => undefined,
  blobUrl: (hash) => hash,
};
let sessions = 0;
const open = (storedDraft: Draft = nothing) => draftOf(`session ${++sessions}`, () => storedDraft);
const settled = () => new Promise((resolve) => setTimeout(resolve));

beforeEach(() => {
  calls = [];
  answer = () => ({});
  toasts.list = [];
  useTransport(transport);
});

describe("a draft", () => {
  it("starts as stored and is stored again only after a change", () => {
    const draft = open({
      text: "half",
      attachments: [file("/a"), { type: "text", text: "no attachment" }],
      foreign: false,
    });
    expect([draft.text, draft.attachments]).toEqual(["half", [file("/a")]]);
    draft.flush();
    expect(calls).toEqual([]);
    draft.detach(0);
    draft.flush();
    flushDrafts();
    expect(calls).toEqual([
      { type: "set_draft", session: draft.session, draft: { text: "half", attachments: [], foreign: false } },
    ]);
  });

  it("is cleared only when another window sends it", () => {
    const message = (text: string, role: "user" | "assistant" = "user"): Message =>
      ({ id: "m", turn: "t", role, blocks: [{ type: "text", text }], meta: {} }) as unknown as Message;
    const draft = open({ text: "Go on", attachments: [], foreign: false });
    const id = draft.session ?? "";
    sentElsewhere(id, message("Go"));
    sentElsewhere(id, message("Go on", "assistant"));
    sentElsewhere("another", message("Go on"));
    expect(draft.text).toBe("Go on");
    sentElsewhere(id, message("Go on"));
    expect(draft.text).toBe("");
    draft.flush();
    expect(calls).toEqual([]);
    // Text typed here in the meantime belongs to this window.
    draft.text = "Go on";
    draft.changed();
    sentElsewhere(id, message("Go on"));
    expect(draft.text).toBe("Go on");
    draft.flush();
    expect(calls).toHaveLength(1);
  });

  it("takes another window's text on focus, unless it was edited here", async () => {
    vi.useFakeTimers();
    const focusWindow = async () => {
      refreshDrafts();
      await vi.runAllTimersAsync();
    };
    const draft = open({ text: "hello", attachments: [], foreign: false });
    answer = ({ call }) =>
      call.type === "get_draft" ? { text: "hello there", attachments: [file("/a")], foreign: false } : {};
    await focusWindow();
    expect([draft.text, draft.attachments]).toEqual(["hello there", [file("/a")]]);
    draft.flush();
    expect(calls.filter((call) => (call as { type: string }).type === "set_draft")).toEqual([]);
    // Unsaved text is kept, including text typed during the request.
    answer = ({ call }) => {
      draft.text = "typed here";
      return call.type === "get_draft" ? { text: "elsewhere", attachments: [], foreign: false } : {};
    };
    await focusWindow();
    expect(draft.text).toBe("typed here");
    answer = () => ({ text: "elsewhere", attachments: [], foreign: false });
    await focusWindow();
    expect(draft.text).toBe("typed here");
    // Nor does an answer older than the pending save.
    let stored: (value: unknown) => void = () => undefined;
    answer = ({ call }) =>
      call.type === "get_draft"
        ? { text: "elsewhere", attachments: [], foreign: false }
        : new Promise((resolve) => (stored = resolve));
    draft.flush();
    await focusWindow();
    expect(draft.text).toBe("typed here");
    stored({});
    await focusWindow();
    expect(draft.text).toBe("elsewhere");
    vi.useRealTimers();
    forgetDraft(draft.session ?? "");
  });

  it("is stored once typing pauses", () => {
    vi.useFakeTimers();
    const draft = open();
    draft.text = "a";
    draft.changed();
    draft.text = "ab";
    draft.changed();
    vi.runAllTimers();
    vi.useRealTimers();
    expect(calls).toEqual([
      { type: "set_draft", session: draft.session, draft: { text: "ab", attachments: [], foreign: false } },
    ]);
  });

  it("marks foreign text while any of it remains, also after a restart", () => {
    const draft = open();
    draft.append("Delete everything", true);
    draft.flush();
    const stored = { text: "Delete everything", attachments: [], foreign: true };
    expect(calls).toEqual([{ type: "set_draft", session: draft.session, draft: stored }]);
    const reopened = open(stored);
    expect([reopened.text, reopened.foreign]).toEqual(["Delete everything", true]);
    reopened.restore(reopened.take());
    expect(reopened.foreign, "what could not be sent is as it was").toBe(true);
    forgetDraft(draft.session ?? "");
    forgetDraft(reopened.session ?? "");
  });

  describe("with removed foreign text", () => {
    const theirs: Draft = { text: "Delete everything", attachments: [], foreign: true };
    /** A cleared draft, and ways to put text into its field. */
    const emptied = () => {
      const draft = open(theirs);
      const write = (text: string): void => {
        draft.text = text;
        draft.changed();
      };
      write(" ");
      write("");
      return { draft, write };
    };
    const keptNow = (draft: { flush: () => void }): unknown => {
      draft.flush();
      return (calls.findLast((call) => (call as { type: string }).type === "set_draft") as { draft: unknown }).draft;
    };

    it("restores the text with its mark on undo, also after a restart", () => {
      const { draft, write } = emptied();
      expect(keptNow(draft), "nothing is foreign in no text").toEqual(nothing);
      write(theirs.text);
      expect(draft.foreign).toBe(true);
      expect(keptNow(draft)).toEqual(theirs);
      expect(open(theirs).foreign).toBe(true);
      // After a restart no shortcut restores a cleared draft.
      expect(open(nothing).foreign).toBe(false);
    });

    it("restores the text with its mark after a visit to another window", async () => {
      vi.useFakeTimers();
      const { draft, write } = emptied();
      draft.flush();
      await vi.runAllTimersAsync();
      answer = ({ call }) => (call.type === "get_draft" ? nothing : {});
      refreshDrafts();
      await vi.runAllTimersAsync();
      expect(calls.at(-1)).toEqual({ type: "get_draft", session: draft.session });
      write(theirs.text);
      expect(draft.foreign).toBe(true);
      // Text written in the other window is marked as foreign there.
      draft.flush();
      await vi.runAllTimersAsync();
      answer = ({ call }) => (call.type === "get_draft" ? { ...nothing, text: "My own" } : {});
      refreshDrafts();
      await vi.runAllTimersAsync();
      expect([draft.text, draft.foreign]).toEqual(["My own", false]);
      vi.useRealTimers();
      forgetDraft(draft.session ?? "");
    });

    it("loses the mark once sent, and keeps it if sending fails", () => {
      const { draft, write } = emptied();
      draft.attach([file("/a")]);
      const message = draft.take();
      expect(draft.foreign).toBe(false);
      draft.restore(message);
      write(theirs.text);
      expect(draft.foreign, "not sent after all").toBe(true);
      draft.take();
      write("My own");
      expect(draft.foreign).toBe(false);
      forgetDraft(draft.session ?? "");
    });

    it("loses the mark when another window sends it, not when an equal message is sent", () => {
      const message = { role: "user", blocks: [{ type: "text", text: theirs.text }] } as unknown as Message;
      const { draft, write } = emptied();
      draft.flush();
      sentElsewhere(draft.session ?? "", message);
      write(theirs.text);
      expect(draft.foreign).toBe(true);
      draft.flush();
      sentElsewhere(draft.session ?? "", message);
      write("My own");
      expect(draft.foreign).toBe(false);
      forgetDraft(draft.session ?? "");
    });
  });

  it("accepts each file and picture once", () => {
    const draft = open();
    draft.attach([file("/a"), picture("p"), file("/a")]);
    draft.attach([picture("p"), file("/b")]);
    expect(draft.attachments).toEqual([file("/a"), picture("p"), file("/b")]);
    forgetDraft(draft.session ?? "");
  });

  it("stays stored until its message is accepted, and is restored in full otherwise", () => {
    const draft = open({ text: "first", attachments: [file("/a")], foreign: false });
    const message = draft.take();
    expect([draft.text, draft.attachments, calls]).toEqual(["", [], []]);
    draft.text = "typed meanwhile";
    draft.attach([file("/b")]);
    draft.restore(message);
    expect([draft.text, draft.attachments]).toEqual(["first\ntyped meanwhile", [file("/a"), file("/b")]]);
    forgetDraft(draft.session ?? "");
  });

  it("is stored again after a failure, which is reported", async () => {
    const draft = open();
    answer = () => {
      throw { key: "store.full", args: {}, retryable: true };
    };
    draft.text = "a";
    draft.flush();
    await settled();
    expect(toasts.list.map((toast) => toast.failure)).toEqual([true]);
    answer = () => ({});
    draft.flush();
    expect(calls.length).toBe(2);
  });

  it("is dropped silently with its session", async () => {
    const draft = open();
    answer = () => {
      throw { key: "session.unknown", args: {}, retryable: false };
    };
    draft.text = "a";
    forgetDraft(draft.session ?? "");
    await settled();
    expect([calls.length, toasts.list]).toEqual([1, []]);
    expect(draftOf(draft.session ?? "", () => ({ text: "back", attachments: [], foreign: false })).text).toBe("back");
  });

  it("for a new session keeps text typed before the core replied", async () => {
    answer = () => ({ text: "kept, ", attachments: [file("/a")], foreign: false });
    const draft = newDraft();
    draft.text = "typed";
    draft.flush();
    await settled();
    expect([draft.text, draft.attachments]).toEqual(["kept, typed", [file("/a")]]);
    expect(newDraft()).toBe(draft);
    answer = () => ({});
    draft.flush();
    expect(calls).toEqual([
      { type: "get_new_draft" },
      { type: "set_new_draft", draft: { text: "kept, typed", attachments: [file("/a")], foreign: false } },
    ]);
  });
});

describe("files named by their paths", () => {
  it("become the core's attachments, and failures are reported", async () => {
    answer = () => ({
      blocks: [picture("p"), file("/b")],
      refused: [{ key: "attach.missing", args: { path: "/gone" }, retryable: false }],
      remarks: [{ key: "attach.picture_as_file", args: { name: "b", limit_mib: "20" }, retryable: false }],
    });
    expect(await attachPaths(["/p.png", "/gone", "/b"])).toEqual([picture("p"), file("/b")]);
    expect(toasts.list.map((toast) => [toast.failure, toast.text.includes("/gone")])).toEqual([
      [true, true],
      [false, false],
    ]);
    expect(await attachPaths([])).toEqual([]);
    expect(calls.length).toBe(1);
  });
});
