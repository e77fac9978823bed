import type {
  BrowserActionKind,
  BrowserState,
  BrowserView,
  CallView,
  LivePage,
  TurnView,
  Update,
} from "$lib/ipc/types";
import { browserScene } from "$lib/ipc/fake-browser";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  apply,
  objectParts,
  encrypted,
  isolated,
  visibleMark,
  oneLine,
  pageSteps,
  roleWord,
  worksInPages,
} from "./browser";
import * as session from "./session";

const waiting: BrowserState = { type: "waiting_for_allow", browser: "Chrome", since: 5 };
const view = (deed: BrowserActionKind, part: Partial<BrowserView> = {}): BrowserView => ({
  deed,
  target: null,
  site: "https://a.example",
  title: "Shop",
  tab: 1,
  text: null,
  output: "",
  picture: null,
  ...part,
});

describe("the attachment to the browser", () => {
  it("is the last reported state, ignoring other topics", () => {
    const first = apply(null, { type: "snapshot", snapshot: { topic: "browser", state: { type: "apart" } } });
    expect(first).toEqual({ type: "applied", state: { type: "apart" } });
    expect(apply({ type: "apart" }, { type: "browser", state: waiting })).toEqual({ type: "applied", state: waiting });
    const others: Update[] = [
      { type: "page", page: null },
      { type: "snapshot", snapshot: { topic: "ledger" } },
    ];
    for (const update of others) expect(apply(waiting, update)).toEqual({ type: "applied", state: waiting });
    expect(apply(waiting, { type: "ended" })).toEqual({ type: "ended" });
  });
});

describe("a site", () => {
  it.each([
    ["https://shop.example", true],
    ["HTTPS://shop.example", true],
    ["about:blank", true],
    ["", true],
    ["http://shop.example", false],
    ["http://localhost:3000", false],
    ["httpsx://shop.example", false],
    ["ftp://shop.example", false],
    [" https://shop.example", false],
  ])("%j is encrypted: %s", (site, expected) => expect(encrypted(site)).toBe(expected));
});

const button = { role: "button", name: "Add to basket" };
describe("the object of a step", () => {
  const text = (words: string) => ({ type: "text", text: words });
  const element = { type: "element", element: button };
  it.each<[BrowserActionKind, Partial<BrowserView>, unknown[]]>([
    ["look", {}, []],
    ["open", { text: "https://b.example/x" }, [text("https://b.example/x")]],
    ["open", {}, [text("Shop")]],
    ["tab", { text: "3" }, [text("Shop")]],
    ["read", {}, [text("Shop")]],
    ["read", { title: " ", target: button }, [element]],
    ["read", { title: "\n" }, [text("https://a.example")]],
    ["picture", { title: null, site: null }, []],
    ["click", { target: button }, [element]],
    ["click", {}, [text("Shop")]],
    ["type", { target: button, text: "cotton\nshirt" }, [element, text("cotton shirt")]],
    ["press", { text: "Enter", target: button }, [text("Enter"), element]],
    ["press", {}, []],
    ["select", { text: "Blue", target: button }, [text("Blue"), element]],
    ["upload", { text: "cv.pdf" }, [text("cv.pdf")]],
    ["dialog", { text: "OK" }, [text("OK")]],
    ["dialog", {}, []],
    ["wait", {}, [text("Shop")]],
    ["script", { text: "1 + 1" }, [text("1 + 1")]],
    ["script", {}, []],
  ])("%s %j", (deed, part, expected) => expect(objectParts(view(deed, part))).toEqual(expected));
});

describe("foreign text", () => {
  it("is one line, cut at whole characters and isolated in direction", () => {
    expect(oneLine("  a\n\u2028b\tc ")).toBe("a b c");
    const long = "🍅".repeat(200);
    expect(oneLine(long)).toBe(`${"🍅".repeat(79)}…`);
    expect(isolated("\u202Eevil")).toBe("\u2068\u202Eevil\u2069");
  });

  it("names only known kinds of elements", () => {
    expect([roleWord("Button"), roleWord("combobox"), roleWord("iframe")]).toEqual(["button", "list", "frame"]);
    for (const role of ["constructor", "__proto__", "toString", "", "pay now"]) expect(roleWord(role)).toBe("other");
  });
});

describe("a mark", () => {
  it("lies within the picture or is absent", () => {
    const number = fc.double({ min: -3, max: 3, noNaN: false });
    fc.assert(
      fc.property(number, number, number, number, (x, y, width, height) => {
        const bounds = visibleMark({ x, y, width, height });
        if (bounds === null) return;
        expect(bounds.x).toBeGreaterThanOrEqual(0);
        expect(bounds.y).toBeGreaterThanOrEqual(0);
        expect(bounds.width).toBeGreaterThan(0);
        expect(bounds.height).toBeGreaterThan(0);
        expect(bounds.x + bounds.width).toBeLessThanOrEqual(1 + 1e-9);
        expect(bounds.y + bounds.height).toBeLessThanOrEqual(1 + 1e-9);
      }),
    );
    expect(visibleMark({ x: 0.9, y: 0.5, width: 0.2, height: 0.1 })).toMatchObject({ x: 0.9, y: 0.5 });
    expect(visibleMark({ x: 1.2, y: 0, width: 0.2, height: 0.1 })).toBeNull();
    expect(visibleMark({ x: 0.1, y: 0.1, width: Number.NaN, height: 0.1 })).toBeNull();
  });
});

describe("the steps beside the picture", () => {
  const turn = (id: string): TurnView => ({
    id,
    started_at: 1,
    ended_at: null,
    end: null,
    usage: { input: 0, cache_read: 0, cache_write: 0, output: 0 },
  });
  const call = (id: string, turn: string, state: CallView["state"], shown: CallView["view"]): CallView => ({
    id,
    turn,
    tool: "browser",
    state,
    view: shown,
  });
  const page = (deed: BrowserActionKind): CallView["view"] => ({ type: "browser", ...view(deed) });
  const endState = (status: "done" | "failed" | "denied" | "stopped" | "interrupted"): CallView["state"] => ({
    type: "ended",
    status,
    at: 2,
    duration_ms: 7,
  });

  it("are the newest turn's page calls with their status", () => {
    const all = [
      call("old", "t1", endState("done"), page("open")),
      call("a", "t2", endState("done"), page("open")),
      call("other", "t2", endState("done"), { type: "plain", text: "x" }),
      call("unread", "t2", { type: "planned" }, null),
      call("b", "t2", endState("failed"), page("click")),
      call("c", "t2", endState("interrupted"), page("click")),
      call("d", "t2", endState("denied"), page("click")),
      call("e", "t2", endState("stopped"), page("click")),
      call("f", "t2", { type: "asking" }, page("click")),
      call("g", "t2", { type: "started", at: 3 }, page("click")),
      call("h", "t2", { type: "planned" }, page("click")),
    ];
    const state = { turns: [turn("t1"), turn("t2")], calls: new Map(all.map((call) => [call.id, call])), page: null };
    expect(pageSteps(state).map((step) => [step.id, step.phase, step.milliseconds])).toEqual([
      ["a", "done", 7],
      ["b", "failed", 7],
      ["c", "failed", 7],
      ["d", "dropped", 7],
      ["e", "dropped", 7],
      ["f", "asks", null],
      ["g", "now", null],
      ["h", "next", null],
    ]);
    expect(worksInPages(state)).toBe(true);
    const idle = { turns: [turn("t1"), turn("t3")], calls: state.calls, page: null };
    expect([pageSteps(idle), worksInPages(idle)]).toEqual([[], false]);
    expect(worksInPages({ ...idle, page: {} as LivePage })).toBe(true);
    // If the browser was never reached, there is no step in a page, and its outcome concerns the session.
    const nowhere = { ...idle, calls: new Map([["x", call("x", "t3", endState("failed"), null)]]) };
    expect([pageSteps(nowhere), worksInPages(nowhere)]).toEqual([[], true]);
  });
});

describe("the page of a session", () => {
  it("is set after the snapshot, updated and cleared when the agent leaves it", () => {
    const [snapshot, update] = browserScene("browser");
    if (!snapshot || update?.type !== "page" || !update.page) throw new Error("the scene has a snapshot and a page");
    const follow = (updates: Update[]) =>
      updates.reduce<session.SessionState | null>((state, update) => {
        const outcome = session.apply(state, update);
        if (outcome.type !== "applied") throw new Error(outcome.type);
        return outcome.state;
      }, null);
    expect(follow([snapshot])?.page).toBeNull();
    expect(follow([snapshot, update])?.page).toEqual(update.page);
    const next: Update = { type: "page", page: { ...update.page, picture: 9 } };
    const state = follow([snapshot, update, next]);
    expect([state?.page?.picture, state?.seq]).toEqual([9, 1]);
    expect(follow([snapshot, update, { type: "page", page: null }])?.page).toBeNull();
    // After a fresh snapshot only the core repeats it.
    expect(follow([snapshot, update, snapshot])?.page).toBeNull();
    // Ignored until a snapshot exists.
    expect(follow([update])).toBeNull();
  });
});
