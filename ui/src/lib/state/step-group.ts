/** A group of tool calls as one card: its header, and when it folds automatically. Pure. */
import type { Step } from "./rows";
import { offeredPage } from "./settings-command";
import { type StepAction, actionOf, failed } from "./step";

/** The number of steps from which a card has a header. */
const COUNTED = 2;
/** The number of steps from which a card folds when its turn is over. */
const LONG = 6;

/** The kinds of steps, in the order they are named. */
export const STEP_KINDS = ["look", "change", "command", "browser", "web", "sub_agent", "skill", "other"] as const;
export type StepKind = (typeof STEP_KINDS)[number];

/** The figures of a card's steps. */
export interface GroupFigures {
  /** The number of steps of each kind, without empty kinds. */
  readonly kinds: readonly { readonly kind: StepKind; readonly count: number }[];
  /** The total duration of the ended steps, in milliseconds. */
  readonly milliseconds: number;
  readonly added: number;
  readonly removed: number;
  readonly failed: number;
  /** The current action; null without one. */
  readonly now: StepAction | null;
}

/** Returns whether a card has a header with its number of steps, by which it can be folded. */
export function hasHead(steps: readonly Step[]): boolean {
  return steps.length >= COUNTED;
}

/** Returns whether a card is folded by default: a long one whose turn is over. Failures stay visible. */
export function foldsByDefault(steps: readonly Step[], isTurnOver: boolean): boolean {
  return isTurnOver && steps.length >= LONG && !steps.some(staysOpen);
}

function staysOpen({ call }: Step): boolean {
  return failed(call) || call?.view?.type === "refused" || offeredPage(call?.view ?? null) !== null;
}

/** Returns the kind of an action. */
export function kindOf(action: StepAction): StepKind {
  switch (action) {
    case "read":
    case "list":
    case "view":
    case "find":
    case "search":
      return "look";
    case "create":
    case "edit":
      return "change";
    case "run":
      return "command";
    case "search_web":
    case "fetch":
      return "web";
    case "delegate":
      return "sub_agent";
    case "use_skill":
    case "install":
      return "skill";
    case "plan":
    case "ask":
    case "call":
      return "other";
    default:
      return "browser";
  }
}

/** Returns the figures of a card's header. */
export function groupFigures(steps: readonly Step[]): GroupFigures {
  const counts = new Map<StepKind, number>();
  let [milliseconds, added, removed, wrong] = [0, 0, 0, 0];
  let now: StepAction | null = null;
  for (const { call } of steps) {
    const view = call?.view ?? null;
    const action = actionOf(view);
    counts.set(kindOf(action), (counts.get(kindOf(action)) ?? 0) + 1);
    if (call?.state.type === "started") now = action;
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
