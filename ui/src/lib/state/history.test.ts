import { describe, expect, it } from "vitest";
import { MAX_ENTRIES, type HistoryEntry, move, type History, visit } from "./history";

const entryOf = (name: string): HistoryEntry => {
  const [page = "", part] = name.split(":");
  if (page === "settings") return { page, section: part ?? "models" };
  if (!/^[a-z]$/.test(page)) return { page };
  return { page: "session", session: page, message: part ?? null };
};
const nameOf = ({ page, section, session, message }: HistoryEntry): string =>
  [session ?? page, section ?? message].filter(Boolean).join(":");
const visitAll = (names: string): History<HistoryEntry> =>
  names.split(" ").map(entryOf).reduce<History<HistoryEntry>>(visit, { entries: [], index: -1 });
/** Formats the places of a trail, with the current one in brackets. */
const render = ({ entries, index }: History<HistoryEntry>): string =>
  entries.map((entry, position) => (position === index ? `[${nameOf(entry)}]` : nameOf(entry))).join(" ");

/** Walks a trail with `<` and `>`; the sessions in `deletedNames` no longer exist. */
function walkWithDeleted(names: string, steps: string, deletedNames = ""): string {
  const exists = (entry: HistoryEntry): boolean => !deletedNames.includes(entry.session ?? "-");
  return render(
    [...steps].reduce(
      (history, step) => move(history, step === "<" ? "back" : "forward", exists) ?? history,
      visitAll(names),
    ),
  );
}

describe("the navigation history", () => {
  it.each([
    ["a", "", "[a]"],
    ["a", "<>", "[a]"],
    ["a b tasks", "<", "a [b] tasks"],
    ["a b tasks", "<<<<", "[a] b tasks"],
    ["a b tasks", "<<>", "a [b] tasks"],
    ["a b tasks", "<>>>", "a b [tasks]"],
    // Repeated visits to one page count once; settings pages count separately.
    ["a a new new a", "", "a new [a]"],
    ["settings:models settings:rules settings:rules", "<", "[settings:models] settings:rules"],
    // A session is one entry and reopens at the message visited last.
    ["a a:m a", "", "[a:m]"],
    ["a:m a:n b", "<", "[a:n] b"],
  ])("%s, then %s: %s", (names, steps, expected) => {
    expect(walkWithDeleted(names, steps)).toBe(expected);
  });

  it.each([
    ["a x b", "<", "x", "[a] x b"],
    ["a x b", "<>", "x", "a x [b]"],
    ["x b", "<", "x", "x [b]"],
    // Without it, the previous entry equals the current page.
    ["a x a", "<", "x", "a x [a]"],
    ["a x y b", "<", "xy", "[a] x y b"],
  ])("%s, then %s, without %s: %s", (names, steps, without, expected) => {
    expect(walkWithDeleted(names, steps, without)).toBe(expected);
  });

  it("drops the entries ahead on a new visit", () => {
    const previous = move(visitAll("a b c"), "back", () => true);
    expect(render(visit(previous ?? visitAll("a"), entryOf("d")))).toBe("a b [d]");
    // The current page appears only once.
    expect(render(visit(previous ?? visitAll("a"), entryOf("b")))).toBe("a [b] c");
  });

  it("is limited, dropping the oldest entries", () => {
    const many = Array.from({ length: MAX_ENTRIES + 7 }, (_, index) => ({ page: `p${index}` }));
    const history = many.reduce<History<HistoryEntry>>(visit, { entries: [], index: -1 });
    expect([history.entries.length, history.index, history.entries[0]?.page]).toEqual([
      MAX_ENTRIES,
      MAX_ENTRIES - 1,
      "p7",
    ]);
  });
});
