/** A run of tool calls as one card: what its head says of it, and when it folds by itself. Pure. */
import type { Step } from "./rows";
import { offeredPage } from "./settings-command";
import { type Doing, doing, failed } from "./step";

/** From how many steps on a card has a head. */
const COUNTED = 2;
/** From how many steps on a card folds when its turn is over. */
const LONG = 6;

/** What steps are counted as, in the order they are named. */
export const STEP_KINDS = ["look", "change", "command", "browser", "web", "sub_agent", "skill", "other"] as const;
export type StepKind = (typeof STEP_KINDS)[number];

/** What is said of a card's steps together. */
export interface GroupFigures {
  /** How many there are of each kind; those there are none of are left out. */
  readonly kinds: readonly { readonly kind: StepKind; readonly count: number }[];
  /** How long those that ended took, in milliseconds. */
  readonly milliseconds: number;
  readonly added: number;
  readonly removed: number;
  readonly failed: number;
  /** What is being done now; null when nothing is. */
  readonly now: Doing | null;
}

/** Whether a card says how many steps it has, so that it can be folded. */
export function hasHead(steps: readonly Step[]): boolean {
  return steps.length >= COUNTED;
}

/** Whether a card is folded unless the person opened it: a long one whose turn is over. What went wrong stays to be seen. */
export function foldsItself(steps: readonly Step[], over: boolean): boolean {
  return over && steps.length >= LONG && !steps.some(staysOpen);
}

function staysOpen({ call }: Step): boolean {
  return failed(call) || call?.view?.type === "refused" || offeredPage(call?.view ?? null) !== null;
}

/** What a verb is counted as. */
export function kindOf(what: Doing): StepKind {
  switch (what) {
    case "read":
    case "listed":
    case "viewed":
    case "found":
    case "searched":
      return "look";
    case "wrote":
    case "edited":
      return "change";
    case "ran":
      return "command";
    case "sought":
    case "fetched":
      return "web";
    case "delegated":
      return "sub_agent";
    case "invoked":
    case "installed":
      return "skill";
    case "planned":
    case "asked":
    case "called":
      return "other";
    default:
      return "browser";
  }
}

/** What the head of a card says. */
export function groupFigures(steps: readonly Step[]): GroupFigures {
  const counts = new Map<StepKind, number>();
  let [milliseconds, added, removed, wrong] = [0, 0, 0, 0];
  let now: Doing | null = null;
  for (const { call } of steps) {
    const view = call?.view ?? null;
    const what = doing(view);
    counts.set(kindOf(what), (counts.get(kindOf(what)) ?? 0) + 1);
    if (call?.state.type === "started") now = what;
    if (call?.state.type === "ended") milliseconds += call.state.duration_ms;
    if (failed(call) || view?.type === "refused") wrong += 1;
    else if (view?.type === "diff" && call?.state.type === "ended" && call.state.status === "done") {
      added += view.added;
      removed += view.removed;
    }
  }
  const kinds = STEP_KINDS.flatMap((kind) => {
    const count = counts.get(kind);
    return count === undefined ? [] : [{ kind, count }];
  });
  return { kinds, milliseconds, added, removed, failed: wrong, now };
}
