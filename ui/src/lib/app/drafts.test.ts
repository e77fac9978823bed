// @vitest-environment jsdom
import { type Transport, useTransport } from "$lib/ipc";
import type { Draft, Request } from "$lib/ipc/types";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { attachPaths } from "./attachments";
import { draftOf, flushDrafts, forgetDraft, newDraft } from "./drafts.svelte";
import { toasts } from "./toasts.svelte";

const nothing: Draft = { text: "", attachments: [] };
const file = (path: string) => ({ type: "file" as const, path });
const picture = (blob: string) => ({ type: "image" as const, blob, media_type: "image/png", name: `${blob}.png` });

let asked: unknown[] = [];
let answer: (request: Request) => unknown = () => ({});
const transport: Transport = {
  request: (request) => {
    asked.push(request.call);
    return Promise.resolve().then(() => answer(request));
  },
  subscribe: () => Promise.resolve(() => undefined),
  onFileDrop: () => () => undefined,
  blobUrl: (hash) => hash,
};
let sessions = 0;
const anew = (kept: Draft = nothing) => draftOf(`session ${++sessions}`, () => kept);
const settled = () => new Promise((resolve) => setTimeout(resolve));

beforeEach(() => {
  asked = [];
  answer = () => ({});
  toasts.list = [];
  useTransport(transport);
});

describe("a draft", () => {
  it("begins as it was kept and is kept again only when it changed", () => {
    const draft = anew({ text: "half", attachments: [file("/a"), { type: "text", text: "no attachment" }] });
    expect([draft.text, draft.attachments]).toEqual(["half", [file("/a")]]);
    draft.flush();
    expect(asked).toEqual([]);
    draft.detach(0);
    draft.flush();
    flushDrafts();
    expect(asked).toEqual([{ type: "set_draft", session: draft.session, draft: { text: "half", attachments: [] } }]);
  });

  it("is kept once typing pauses", () => {
    vi.useFakeTimers();
    const draft = anew();
    draft.text = "a";
    draft.changed();
    draft.text = "ab";
    draft.changed();
    vi.runAllTimers();
    vi.useRealTimers();
    expect(asked).toEqual([{ type: "set_draft", session: draft.session, draft: { text: "ab", attachments: [] } }]);
  });

  it("takes each file and picture once", () => {
    const draft = anew();
    draft.attach([file("/a"), picture("p"), file("/a")]);
    draft.attach([picture("p"), file("/b")]);
    expect(draft.attachments).toEqual([file("/a"), picture("p"), file("/b")]);
    forgetDraft(draft.session ?? "");
  });

  it("stays with the core until its message is taken, and comes back whole when it is not", () => {
    const draft = anew({ text: "first", attachments: [file("/a")] });
    const taken = draft.take();
    expect([draft.text, draft.attachments, asked]).toEqual(["", [], []]);
    draft.text = "typed meanwhile";
    draft.attach([file("/b")]);
    draft.restore(taken);
    expect([draft.text, draft.attachments]).toEqual(["first\ntyped meanwhile", [file("/a"), file("/b")]]);
    forgetDraft(draft.session ?? "");
  });

  it("is tried again after it could not be kept, and says so", async () => {
    const draft = anew();
    answer = () => {
      throw { key: "store.full", args: {}, retryable: true };
    };
    draft.text = "a";
    draft.flush();
    await settled();
    expect(toasts.list.map((toast) => toast.failure)).toEqual([true]);
    answer = () => ({});
    draft.flush();
    expect(asked.length).toBe(2);
  });

  it("goes quietly with its session", async () => {
    const draft = anew();
    answer = () => {
      throw { key: "session.unknown", args: {}, retryable: false };
    };
    draft.text = "a";
    forgetDraft(draft.session ?? "");
    await settled();
    expect([asked.length, toasts.list]).toEqual([1, []]);
    expect(draftOf(draft.session ?? "", () => ({ text: "back", attachments: [] })).text).toBe("back");
  });

  it("for a new session keeps what was typed before the core had answered", async () => {
    answer = () => ({ text: "kept, ", attachments: [file("/a")] });
    const draft = newDraft();
    draft.text = "typed";
    draft.flush();
    await settled();
    expect([draft.text, draft.attachments]).toEqual(["kept, typed", [file("/a")]]);
    expect(newDraft()).toBe(draft);
    answer = () => ({});
    draft.flush();
    expect(asked).toEqual([
      { type: "get_new_draft" },
      { type: "set_new_draft", draft: { text: "kept, typed", attachments: [file("/a")] } },
    ]);
  });
});

describe("files named by their paths", () => {
  it("become what the core says, and what could not be attached is told", async () => {
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
    expect(asked.length).toBe(1);
  });
});
