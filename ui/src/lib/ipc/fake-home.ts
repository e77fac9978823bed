/**
 * Octo's home in a replay: its sizes, a backup, its deletion, a move, and a report. `?home=in-use` refuses the
 * deletion, and with `?home=fixed` it cannot be moved. A picked copy is of a newer Octo with `?copy=newer`, of an Octo
 * that recorded no version with `?copy=old`, and not empty as a target with `?copy=full`. `?kept` adds an old home
 * folder, and `?left` a file that remains where one is deleted.
 */
import { failure } from "./fake-parts";
import type { HomePart, HomePlan, HomeRequest, OldHome, Request, HomeState } from "./types";

const HOME = "/home/mei/.octo";
const PARTS: readonly (readonly [HomePart, number, number])[] = [
  ["blobs", 1_240_000_000, 8_412],
  ["trash", 389_000_000, 31_460],
  ["database", 84_300_000, 3],
  ["browser", 41_000_000, 812],
  ["logs", 6_200_000, 9],
  ["outputs", 3_100_000, 66],
  ["skills", 412_000, 38],
  ["memories", 18_400, 12],
  ["configuration", 2_100, 3],
];
const LOG = [
  '{"timestamp":"2026-11-22T14:02:11.481302Z","level":"INFO","fields":{"message":"the home is open"},"target":"octo_core::octo"}',
  '{"timestamp":"2026-11-22T14:05:40.119034Z","level":"WARN","fields":{"message":"the presets in the home are not used"},"target":"octo_core::octo","path":"[path]"}',
].join("\n");

const BACKUP = `${HOME}/backups/octo-9-1763674800000.db`;

export class FakeHome {
  #report = 0;
  #over = false;
  #replaced = false;
  #planned: HomePlan | null = null;
  #formerHomes: OldHome[] = new URLSearchParams(location.search).has("kept")
    ? [{ path: `${HOME}-before-2026-11-20-091500`, bytes: 1_120_000_000 }]
    : [];

  #residence(): HomeState {
    const fixed = new URLSearchParams(location.search).get("home") === "fixed" ? failure("home.by_variable") : null;
    return { home: HOME, fixed, planned: this.#planned, kept: this.#formerHomes };
  }

  #plan(plan: HomePlan | null): HomeState {
    this.#planned = plan;
    return this.#residence();
  }

  /** Whether everything was deleted: no request is answered any more. */
  get over(): boolean {
    return this.#over;
  }

  /** Answers requests while the database is damaged. */
  damaged(request: Request): unknown {
    if (request.domain === "home" && request.call.type === "look_at_damage") {
      return { backup: { path: BACKUP, at: new Date("2026-11-20T21:40:00Z").getTime(), sessions: 312 } };
    }
    if (request.domain === "home" && request.call.type === "replace_database") {
      this.#replaced = true;
      return { aside: `${HOME}/octo.db-damaged-2026-11-21-140248` };
    }
    throw {
      ...failure("store.damaged", { path: `${HOME}/octo.db`, backup: BACKUP }),
      detail: "database disk image is malformed",
      code: "damaged",
    };
  }

  /** Whether the damaged database was replaced. */
  get replaced(): boolean {
    return this.#replaced;
  }

  answer(call: HomeRequest, sessions: number, models: number): unknown {
    const query = new URLSearchParams(location.search);
    switch (call.type) {
      case "measure_home":
        return {
          path: HOME,
          parts: PARTS.map(([part, bytes, files]) => ({ part, bytes, files })),
          bytes: PARTS.reduce((sum, [, bytes]) => sum + bytes, 0),
          sessions,
          models,
        };
      case "back_up_home":
        return {
          path: `${call.to}/octo-backup-2026-11-22-150405`,
          files: 8_540,
          bytes: 1_330_000_000,
          missing: query.has("missing") ? ["skills/linked"] : [],
        };
      case "erase_home":
        if (call.confirm !== HOME) throw failure("home.not_confirmed");
        if (query.get("home") === "in-use") throw failure("home.in_use");
        this.#over = true;
        return { left: query.has("left") ? ["diary.md"] : [], keys: null };
      case "get_residence":
        return this.#residence();
      case "look_at_copy":
        if (query.get("copy") === "newer") throw failure("home.copy_newer", { path: call.from });
        return {
          path: call.from,
          at: Date.now() - 3 * 86_400_000,
          octo: query.get("copy") === "old" ? null : "0.1.0",
          sessions: 41,
          files: 8_540,
          bytes: 1_330_000_000,
        };
      case "restore_home":
        return this.#plan({ type: "restore", from: call.from, aside: `${HOME}-before-2026-11-22-150405` });
      case "move_home":
        if (query.get("copy") === "full") throw failure("home.not_empty", { path: call.to });
        return this.#plan({ type: "move", to: call.to });
      case "cancel_home_plan":
        return this.#plan(null);
      case "drop_kept_home":
        this.#formerHomes = this.#formerHomes.filter((home) => home.path !== call.path);
        return { left: query.has("left") ? ["diary.md"] : [], state: this.#residence() };
      case "look_at_damage":
      case "replace_database":
        throw failure("store.not_damaged");
      case "make_diagnostics":
        this.#report += 1;
        return {
          id: String(this.#report).padStart(32, "0"),
          at: Date.now(),
          parts: [
            { about: "system", text: "Octo 0.1.0\nlinux x86_64\ntime 2026-11-22 15:04:05 +00:00\nlanguage en" },
            {
              about: "checks",
              text: `database: schema 13, ${sessions} sessions, sound\nkeychain: available\nbrowser: apart\nhome, blobs: 1240000000 bytes in 8412 files`,
            },
            {
              about: "settings",
              text: '{\n  "default_mode": "ask_risky",\n  "recent_folders": [\n    "(left out)"\n  ]\n}',
            },
            { about: "log", text: LOG },
          ],
        };
      case "save_diagnostics":
        if (call.id !== String(this.#report).padStart(32, "0")) throw failure("diagnostics.gone");
        return { path: `${call.to}/octo-report-2026-11-22-150405.txt` };
      default:
        return call satisfies never;
    }
  }
}
