// @vitest-environment jsdom
import { provideConversation } from "$lib/app/context";
import { Conversation } from "$lib/app/conversation.svelte";
import { navigation } from "$lib/app/navigation.svelte";
import { preferences } from "$lib/app/preferences.svelte";
import { type Row, rowsOf } from "$lib/state/rows";
import { testids } from "$lib/testids";
import { mountStage } from "$lib/testing/mount";
import { until, words } from "$lib/testing/dom";
import { t } from "$lib/words/words.svelte";
import { type Component, type ComponentProps, flushSync, mount, unmount } from "svelte";
import { afterEach, describe, expect, it } from "vitest";
import TranscriptRow from "./TranscriptRow.svelte";
import TurnFooter from "./TurnFooter.svelte";

const MAIN = "d0000000000000000000000000000001";

const { replayed, target, all, get } = mountStage();
let mounted: Record<string, unknown> | null = null;
let session: Conversation;

afterEach(async () => {
  if (mounted) await unmount(mounted);
  session.close();
  navigation.fresh();
});

/** Mounts a part of the session's transcript. */
function show<Props extends object>(component: Component<Props>, props: Props): void {
  const inSession: Component<Props> = (internals, props) => {
    provideConversation(() => session);
    return component(internals, props);
  };
  mounted = mount(inSession, { target, props, context: new Map() });
  flushSync();
}

async function rows(): Promise<readonly Row[]> {
  await replayed.begin("main");
  await preferences.begin();
  session = new Conversation(MAIN, () => undefined);
  await until(() => expect(session.state).not.toBeNull());
  return session.state ? rowsOf(session.state) : [];
}

type Props = ComponentProps<typeof TurnFooter>;

/** Mounts the last row of the first turn that has one. */
async function open(): Promise<Props["turn"]> {
  const end = (await rows()).find((row) => row.kind === "end");
  if (end?.kind !== "end") throw new Error("no turn ended");
  const { turn, figures, outcome } = end;
  show<Props>(TurnFooter, { turn, figures, outcome });
  return turn;
}

describe("the end of a turn", () => {
  it("has a focusable button that branches a session after its answer", async () => {
    const turn = await open();
    const button = get(testids.branchAfter);
    expect([words(button), button.title, button.tabIndex]).toEqual([t("message.branch"), t("turn.branch_title"), 0]);
    const last = session.state?.messages.findLast(
      (message) => message.turn === turn.id && message.role === "assistant",
    );
    button.click();
    await until(() => expect(navigation.current?.state?.messages.at(-1)?.id).toBe(last?.id));
    expect(replayed.last("branch_session")).toMatchObject({
      session: MAIN,
      at: { type: "through", message: last?.id },
    });
    expect(navigation.current?.id).not.toBe(MAIN);
  });

  it("has no branch button where branching is impossible", async () => {
    await open();
    const state = session.state;
    if (!state) throw new Error("no state");
    session.state = { ...state, info: { ...state.info, source: "demo" } };
    flushSync();
    expect(all(testids.branchAfter)).toEqual([]);
  });
});

describe("an interim answer", () => {
  it("has a button that branches after it once its turn is over", async () => {
    const between = (await rows()).find((row) => row.kind === "text" && row.between);
    if (!between) throw new Error("nothing was said on the way");
    show(TranscriptRow, { row: { ...between, over: false }, marked: false });
    expect(all(testids.branchWithin)).toEqual([]);
    if (mounted) await unmount(mounted);
    show(TranscriptRow, { row: { ...between, over: true }, marked: false });
    get(testids.branchWithin).click();
    await until(() => expect(navigation.current?.id).not.toBe(MAIN));
    expect(replayed.last("branch_session")).toMatchObject({
      session: MAIN,
      at: { type: "through", message: between.message },
    });
  });
});
