// @vitest-environment jsdom
import { describe, expect, it, vi } from "vitest";
import { ariaKeys, keyOf, pressed, shortcuts, writtenKeys } from "./shortcuts";

const press = (key: string, more: KeyboardEventInit = {}) => new KeyboardEvent("keydown", { key, ...more });
const ctrl = (key: string, more: KeyboardEventInit = {}) => press(key, { ctrlKey: true, ...more });
const actionFor = (event: KeyboardEvent, typing: "typing" | "not_typing" = "typing") =>
  pressed(event, typing)?.id ?? null;

describe("shortcuts", () => {
  it("are formatted for each system", () => {
    expect([keyOf("search", "mac"), keyOf("search", "windows"), keyOf("search", "linux")]).toEqual([
      "⇧⌘F",
      "Ctrl+Shift+F",
      "Ctrl+Shift+F",
    ]);
    expect(writtenKeys("nth", "mac")).toEqual(["⌘1 … ⌘9"]);
    expect(keyOf("time_back", "linux")).toBe("Esc Esc");
    expect([ariaKeys("palette", "mac"), ariaKeys("palette", "linux")]).toEqual(["Meta+K", "Control+K"]);
  });

  it("do not share a key within a part of the window", () => {
    const actionsByKeys = new Map<string, string>();
    for (const { id, place } of shortcuts) {
      for (const key of writtenKeys(id, "linux")) {
        // A part must not reuse a key the window handles; two parts never have the focus at once.
        const chord = `${key.startsWith("Ctrl") ? "all" : place} ${key}`;
        expect(actionsByKeys.get(chord), `${id}: ${key}`).toBeUndefined();
        actionsByKeys.set(chord, id);
      }
    }
    expect(actionsByKeys.size).toBeGreaterThan(shortcuts.length);
  });

  it("are found by their keys", () => {
    expect(actionFor(ctrl("k"))).toBe("palette");
    expect(actionFor(ctrl("F", { shiftKey: true }))).toBe("search");
    expect(actionFor(ctrl("f"))).toBeNull();
    expect(actionFor(ctrl("K", { shiftKey: true }))).toBeNull();
    expect(actionFor(press("k"))).toBeNull();
    expect(actionFor(ctrl("k", { altKey: true }))).toBeNull();
    expect(pressed(ctrl("3"), "typing")).toEqual({ id: "nth", index: 2 });
  });

  it("work on keyboards of other scripts and layouts", () => {
    expect(actionFor(ctrl("л", { code: "KeyK" }))).toBe("palette");
    // Keyboards where the slash needs Shift.
    expect(actionFor(ctrl("/", { shiftKey: true }))).toBe("overview");
  });

  it("go back and forward like the system's browsers, without keys that edit text", async () => {
    const alt = (key: string, more: KeyboardEventInit = {}) => press(key, { altKey: true, ...more });
    const all = [alt("ArrowLeft"), alt("ArrowRight"), press("[", { metaKey: true }), press("]", { metaKey: true })];
    expect(all.map((event) => actionFor(event))).toEqual(["back", "forward", null, null]);
    for (const more of [{ shiftKey: true }, { ctrlKey: true }, { metaKey: true }])
      expect(actionFor(alt("ArrowLeft", more))).toBeNull();
    expect([actionFor(alt("ArrowUp")), actionFor(press("ArrowLeft")), actionFor(alt("?"), "not_typing")]).toEqual([
      null,
      null,
      null,
    ]);
    expect([keyOf("back", "mac"), keyOf("back", "linux"), keyOf("forward", "windows")]).toEqual([
      "⌘[",
      "Alt+←",
      "Alt+→",
    ]);

    vi.resetModules();
    vi.doMock("./platform", () => ({
      platform: "mac",
      commandKey: (event: KeyboardEvent) => event.metaKey && !event.ctrlKey,
    }));
    const mac = await import("./shortcuts");
    const { chooseKeys } = await import("./chosen-keys.svelte");
    const macActionFor = (event: KeyboardEvent) => mac.pressed(event, "typing")?.id ?? null;
    expect(all.map(macActionFor)).toEqual([null, null, "back", "forward"]);
    // Keyboards with another letter on the bracket key.
    expect(macActionFor(press("ü", { metaKey: true, code: "BracketLeft" }))).toBe("back");
    // They cannot be chosen for another action; a choice made before back/forward existed is kept.
    expect(mac.readChoice("side", press("[", { metaKey: true }))).toEqual({ type: "used", by: "back" });
    chooseKeys({ side: "Mod+[" });
    expect(macActionFor(press("[", { metaKey: true }))).toBe("side");
    vi.doUnmock("./platform");
    vi.resetModules();
  });

  it("ignore a question mark while typing", () => {
    expect(actionFor(press("?", { shiftKey: true }), "typing")).toBeNull();
    expect(actionFor(press("?", { shiftKey: true }), "not_typing")).toBe("overview");
  });
});
