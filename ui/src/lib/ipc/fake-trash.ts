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
    const many = chosen === null ? FIRST.length : Number(chosen);
    this.#entries = Array.from({ length: many }, (_, n) => FIRST[n] ?? entry(n, {}));
  }

  get totals(): TrashTotals {
    return sum(this.#entries);
  }

  /** The functions that restore an entry on the page it was deleted from. */
  readonly #ways = new Map<string, () => void>();
  #put = 100_000;

  /** Adds an entry deleted on its own page. */
  put(what: Pick<TrashEntry, "kind" | "name" | "folder" | "size">, back: () => void): void {
    const form = what.kind === "skill" ? ("folder" as const) : ("file" as const);
    const made = {
      ...entry(this.#put++, { ...what, form, who: "person", command: null, project: null }),
      at: Date.now(),
    };
    this.#ways.set(made.id, back);
    this.#entries = [made, ...this.#entries];
    this.#changed(this.totals);
  }

  #remove(ids: readonly string[]): void {
    this.#entries = this.#entries.filter((known) => !ids.includes(known.id));
    this.#changed(this.totals);
  }

  #chosen(which: TrashChoice): TrashEntry[] {
    return this.#entries.filter((known) =>
      which.type === "these" ? which.ids.includes(known.id) : known.at < which.at,
    );
  }

  answer(call: TrashRequest): unknown {
    switch (call.type) {
      case "get_trash": {
        const projects = [...new Set(this.#entries.flatMap((known) => known.project ?? []))];
        return { totals: this.totals, projects };
      }
      case "list_trash": {
        const wanted = call.query.trim().toLowerCase();
        const found = this.#entries.filter(
          (known) =>
            (call.kind === null || known.kind === call.kind) &&
            (call.project === null || known.project === call.project) &&
            `${known.name}\n${known.folder}`.toLowerCase().includes(wanted),
        );
        return { entries: found.slice(call.offset, call.offset + call.limit), found: sum(found) };
      }
      case "preview_trash": {
        const found = this.#entries.find((known) => known.id === call.id);
        if (!found) throw failure("trash.gone");
        const until = found.at + 30 * 24 * HOUR;
        return { entry: found, look: look(found), present: present(found), until, session_title: null };
      }
      case "restore_trash": {
        const outcomes = call.ids.map((wanted): RestoreOutcome => {
          const found = this.#entries.find((known) => known.id === wanted);
          const there = found && call.to === null ? present(found) : null;
          if (there && call.on_conflict === "ask") return { type: "taken", id: wanted, present: there };
          this.#ways.get(wanted)?.();
          return { type: "done", id: wanted, at: found?.folder ?? "" };
        });
        this.#remove(outcomes.flatMap((outcome) => (outcome.type === "done" ? outcome.id : [])));
        return { outcomes };
      }
      case "count_trash":
        return sum(this.#chosen(call.which));
      case "empty_trash": {
        const gone = this.#chosen(call.which);
        this.#remove(gone.map((known) => known.id));
        return { removed: sum(gone), kept: 0, error: null };
      }
      default:
        return call satisfies never;
    }
  }
}

function sum(entries: readonly TrashEntry[]): TrashTotals {
  return { things: entries.length, bytes: entries.reduce((all, known) => all + known.size, 0) };
}

function present(found: TrashEntry): ConflictingFile | null {
  if (found.name !== "retry_old.rs") return null;
  return { path: `${found.folder}/${found.name}`, form: "file", size: 5800, modified: found.at + HOUR / 30 };
}

function look(found: TrashEntry): unknown {
  if (found.kind === "session") return { type: "session", lines: ["Try a rounder one.", "Here are three drafts."] };
  if (found.form === "folder") return { type: "folder", entries: ["a/", "b.snap", "c.snap"], total: found.files };
  if (found.form === "link") return { type: "link", target: found.link ?? "" };
  return found.name.endsWith(".rs") || found.name.endsWith(".log")
    ? {
        type: "text",
        text: "// Sends every part again.\npub async fn resume_all(\n    store: &Store,\n) {}",
        more: false,
      }
    : { type: "nothing" };
}
