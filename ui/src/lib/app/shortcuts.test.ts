// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { ariaKeys, keyOf, pressed, shortcuts, writtenKeys } from "./shortcuts";

const press = (key: string, more: KeyboardEventInit = {}) => new KeyboardEvent("keydown", { key, ...more });
const ctrl = (key: string, more: KeyboardEventInit = {}) => press(key, { ctrlKey: true, ...more });
const what = (event: KeyboardEvent, typing: "typing" | "not_typing" = "typing") => pressed(event, typing)?.id ?? null;

describe("shortcuts", () => {
  it("are written as each system writes them", () => {
    expect([keyOf("search", "mac"), keyOf("search", "windows"), keyOf("search", "linux")]).toEqual([
      "⇧⌘F",
      "Ctrl+Shift+F",
      "Ctrl+Shift+F",
    ]);
    expect(writtenKeys("nth", "mac")).toEqual(["⌘1 … ⌘9"]);
    expect(keyOf("time_back", "linux")).toBe("Esc Esc");
    expect([ariaKeys("palette", "mac"), ariaKeys("palette", "linux")]).toEqual(["Meta+K", "Control+K"]);
  });

  it("do not share a key where they are answered", () => {
    const seen = new Map<string, string>();
    for (const { id, place } of shortcuts) {
      for (const key of writtenKeys(id, "linux")) {
        // What the window answers, no part of it may mean otherwise; parts do not have the focus together.
        const where = `${key.startsWith("Ctrl") ? "all" : place} ${key}`;
        expect(seen.get(where), `${id}: ${key}`).toBeUndefined();
        seen.set(where, id);
      }
    }
    expect(seen.size).toBeGreaterThan(shortcuts.length);
  });

  it("are known by their keys", () => {
    expect(what(ctrl("k"))).toBe("palette");
    expect(what(ctrl("F", { shiftKey: true }))).toBe("search");
    expect(what(ctrl("f"))).toBeNull();
    expect(what(ctrl("K", { shiftKey: true }))).toBeNull();
    expect(what(press("k"))).toBeNull();
    expect(what(ctrl("k", { altKey: true }))).toBeNull();
    expect(pressed(ctrl("3"), "typing")).toEqual({ id: "nth", nth: 2 });
  });

  it("are found on keyboards of other scripts and layouts", () => {
    expect(what(ctrl("л", { code: "KeyK" }))).toBe("palette");
    // Where the slash needs Shift.
    expect(what(ctrl("/", { shiftKey: true }))).toBe("overview");
  });

  it("leave a question mark to whoever types", () => {
    expect(what(press("?", { shiftKey: true }), "typing")).toBeNull();
    expect(what(press("?", { shiftKey: true }), "not_typing")).toBe("overview");
  });
});
