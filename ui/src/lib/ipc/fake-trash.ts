/** The trash of a replay: enough to use its page by hand. `?trash=10000` fills it. */
import { failure } from "./fake-parts";
import type { ConflictingFile, RestoreOutcome, TrashChoice, TrashEntry, TrashRequest, TrashTotals } from "./types";

const HOUR = 3_600_000;
const id = (n: number): string => n.toString(16).padStart(32, "0");

function entry(n: number, change: Partial<TrashEntry>): TrashEntry {
  return {
    id: id(n),
    kind: "file",
    form: "file",
    name: `old-${n}.log`,
    folder: "/home/mei/code/harbor/logs",
    size: 1200 + n * 37,
    files: 1,
    link: null,
    at: Date.now() - n * 3 * HOUR,
    who: "agent",
    session: null,
    turn: null,
    project: "/home/mei/code/harbor",
    command: `rm old-${n}.log`,
    ...change,
  };
}

const FIRST: readonly TrashEntry[] = [
  entry(0, {
    name: "retry_old.rs",
    folder: "/home/mei/code/harbor/src/upload",
    size: 6100,
    command: "rm retry_old.rs",
  }),
  entry(1, { name: "snapshots", form: "folder", folder: "/home/mei/code/harbor/tests", size: 1_200_000, files: 14 }),
  entry(2, {
    name: "Try a different logo",
    kind: "session",
    form: "folder",
    size: 212_000,
    files: 38,
    who: "person",
    command: null,
  }),
  entry(3, { name: "IMG_2214.HEIC", folder: "/home/mei/Pictures/2026-10", size: 3_400_000, project: null }),
  entry(4, {
    name: "node_modules",
    form: "folder",
    folder: "/home/mei/code/site",
    size: 388_000_000,
    files: 31_402,
    project: "/home/mei/code/site",
  }),
  entry(5, { name: "報價單 (舊).xlsx", folder: "/home/mei/Documents/報價", size: 88_000, project: null }),
  entry(6, { name: "current", form: "link", folder: "/home/mei/srv/harbor", size: 11, link: "releases/41" }),
];

export class FakeTrash {
  #entries: TrashEntry[];
  readonly #changed: (totals: TrashTotals) => void;

  constructor(changed: (totals: TrashTotals) => void) {
    this.#changed = changed;
    const chosen = new URLSearchParams(location.search).get("trash");
    const count = chosen === null ? FIRST.length : Number(chosen);
    this.#entries = Array.from({ length: count }, (_, n) => FIRST[n] ?? entry(n, {}));
  }

  get totals(): TrashTotals {
    return sum(this.#entries);
  }

  /** The functions that restore an entry on the page it was deleted from. */
  readonly #ways = new Map<string, () => void>();
  #put = 100_000;

  /** Adds an entry deleted on its own page. */
  put(item: Pick<TrashEntry, "kind" | "name" | "folder" | "size">, onrestore: () => void): void {
    const form = item.kind === "skill" ? ("folder" as const) : ("file" as const);
    const made = {
      ...entry(this.#put++, { ...item, form, who: "person", command: null, project: null }),
      at: Date.now(),
    };
    this.#ways.set(made.id, onrestore);
    this.#entries = [made, ...this.#entries];
    this.#changed(this.totals);
  }

  #remove(ids: readonly string[]): void {
    this.#entries = this.#entries.filter((entry) => !ids.includes(entry.id));
    this.#changed(this.totals);
  }

  #chosen(which: TrashChoice): TrashEntry[] {
    return this.#entries.filter((entry) =>
      which.type === "these" ? which.ids.includes(entry.id) : entry.at < which.at,
    );
  }

  answer(call: TrashRequest): unknown {
    switch (call.type) {
      case "get_trash": {
        const projects = [...new Set(this.#entries.flatMap((entry) => entry.project ?? []))];
        return { totals: this.totals, projects };
      }
      case "list_trash": {
        const query = call.query.trim().toLowerCase();
        const matches = this.#entries.filter(
          (entry) =>
            (call.kind === null || entry.kind === call.kind) &&
            (call.project === null || entry.project === call.project) &&
            `${entry.name}\n${entry.folder}`.toLowerCase().includes(query),
        );
        return { entries: matches.slice(call.offset, call.offset + call.limit), found: sum(matches) };
      }
      case "preview_trash": {
        const entry = this.#entries.find((entry) => entry.id === call.id);
        if (!entry) throw failure("trash.gone");
        const until = entry.at + 30 * 24 * HOUR;
        return { entry, look: describe(entry), present: present(entry), until, session_title: null };
      }
      case "restore_trash": {
        const outcomes = call.ids.map((id): RestoreOutcome => {
          const entry = this.#entries.find((entry) => entry.id === id);
          const conflict = entry && call.to === null ? present(entry) : null;
          if (conflict && call.on_conflict === "ask") return { type: "taken", id, present: conflict };
          this.#ways.get(id)?.();
          return { type: "done", id, at: entry?.folder ?? "" };
        });
        this.#remove(outcomes.flatMap((outcome) => (outcome.type === "done" ? outcome.id : [])));
        return { outcomes };
      }
      case "count_trash":
        return sum(this.#chosen(call.which));
      case "empty_trash": {
        const deleted = this.#chosen(call.which);
        this.#remove(deleted.map((entry) => entry.id));
        return { removed: sum(deleted), kept: 0, error: null };
      }
      default:
        return call satisfies never;
    }
  }
}

function sum(entries: readonly TrashEntry[]): TrashTotals {
  return { things: entries.length, bytes: entries.reduce((all, entry) => all + entry.size, 0) };
}

function present(entry: TrashEntry): ConflictingFile | null {
  if (entry.name !== "retry_old.rs") return null;
  return { path: `${entry.folder}/${entry.name}`, form: "file", size: 5800, modified: entry.at + HOUR / 30 };
}

function describe(entry: TrashEntry): unknown {
  if (entry.kind === "session") return { type: "session", lines: ["Try a rounder one.", "Here are three drafts."] };
  if (entry.form === "folder") return { type: "folder", entries: ["a/", "b.snap", "c.snap"], total: entry.files };
  if (entry.form === "link") return { type: "link", target: entry.link ?? "" };
  return entry.name.endsWith(".rs") || entry.name.endsWith(".log")
    ? {
        type: "text",
        text: "// Sends every part again.\npub async fn resume_all(\n    store: &Store,\n) {}",
        more: false,
      }
    : { type: "nothing" };
}
