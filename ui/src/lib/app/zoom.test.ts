// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { zoomBy, zoomed } from "./zoom";

const change = vi.hoisted(() => vi.fn());
vi.mock("./preferences.svelte", () => ({
  preferences: {
    settings: { appearance: { text: "usual", density: "compact", list: "time", zoom: 100 } },
    change,
  },
}));

const press = (key: string, more: KeyboardEventInit = {}) =>
  new KeyboardEvent("keydown", { key, ctrlKey: true, ...more });

describe("the zoom", () => {
  beforeEach(() => change.mockClear());

  it("moves between its levels, within the limits", () => {
    expect([75, 100, 110, 200].map((now) => zoomed(now, "larger"))).toEqual([100, 125, 125, 200]);
    expect([200, 110, 100, 75, 50].map((now) => zoomed(now, "smaller"))).toEqual([175, 100, 75, 75, 50]);
    expect([50, 175].map((now) => zoomed(now, "usual"))).toEqual([100, 100]);
  });

  it("changes with the keys browsers use for it, and no others", () => {
    const larger = { appearance: { text: "usual", density: "compact", list: "time", zoom: 125 } };
    for (const event of [press("+"), press("="), press("+", { shiftKey: true })]) {
      change.mockClear();
      expect(zoomBy(event)).toBe(true);
      expect(change).toHaveBeenCalledExactlyOnceWith(larger);
    }
    change.mockClear();
    expect(zoomBy(press("-"))).toBe(true);
    expect(change.mock.calls[0]?.[0]).toMatchObject({ appearance: { zoom: 75 } });
    change.mockClear();
    // The zoom is unchanged, so nothing is stored.
    expect([zoomBy(press("0")), change.mock.calls]).toEqual([true, []]);
    const others = [
      press("+", { ctrlKey: false }),
      press("+", { altKey: true }),
      press("1"),
      press("0", { shiftKey: true }),
      new KeyboardEvent("keydown", { key: "-" }),
    ];
    expect(others.map(zoomBy)).toEqual([false, false, false, false, false]);
    expect(change).not.toHaveBeenCalled();
  });
});
