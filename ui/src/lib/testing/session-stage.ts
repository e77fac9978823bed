import { navigation } from "$lib/app/navigation.svelte";
import { testids } from "$lib/testids";
import { afterEach, expect } from "vitest";
import App from "../../App.svelte";
import { until } from "./dom";
import { mountStage } from "./mount";

/** The sessions of the recorded scenes. */
export const MAIN = "d0000000000000000000000000000001";
export const PERMISSION = "d0000000000000000000000000000002";
export const FEEDBACK = "d0000000000000000000000000000004";

/** Returns a stage on which tests open the whole page at a session of a recorded scene. */
export function sessionStage() {
  const stage = mountStage();
  const { replayed, show, get } = stage;

  afterEach(() => navigation.fresh());

  async function open(scene: string): Promise<void> {
    await replayed.begin(scene);
    show(App, {});
    await until(() => expect(navigation.current?.state).toBeTruthy());
    await until(() => get(testids.composer));
  }

  async function goTo(id: string): Promise<void> {
    navigation.session(id);
    await until(() => expect(navigation.current?.state?.info.id).toBe(id));
    await until(() => get(testids.composer));
  }

  /** Holds back the answer of a request until the returned function is called. */
  function deferred(type: string): (value: unknown) => void {
    let answer = (_: unknown): void => undefined;
    const coming = new Promise((resolve) => (answer = resolve));
    replayed.instead = (call) => (call.type === type ? coming : undefined);
    return answer;
  }

  return { ...stage, open, goTo, later: deferred };
}
