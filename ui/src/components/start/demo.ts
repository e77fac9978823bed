/** Starts the built-in demo. */
import { navigation } from "$lib/app/navigation.svelte";
import { preferences } from "$lib/app/preferences.svelte";
import { toasts } from "$lib/app/toasts.svelte";
import { call } from "$lib/ipc";

/** Starts the demo and opens it; onboarding counts as done. */
export async function startDemo(): Promise<void> {
  try {
    const info = await call("sessions", "start_demo", {});
    if (preferences.settings?.welcomed === false) await preferences.change({ welcomed: true });
    navigation.session(info.id);
  } catch (error) {
    toasts.fail(error);
  }
}
