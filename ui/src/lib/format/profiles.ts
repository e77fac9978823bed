/** Profiles in words: Octo's own by the catalogue, the person's by their name and the first line of their prompt. */
import type { IconName } from "$lib/icons";
import type { ProfileInfo } from "$lib/ipc/types";
import { lookUp } from "$lib/words/words.svelte";

/** What a profile is called. */
export function profileName(profile: string): string {
  return lookUp(`profile.${profile}`) ?? profile;
}

/** The mark of a session with a profile; null for the one that is for anything. */
export function profileIcon(profile: string): IconName | null {
  if (profile === "general") return null;
  return profile === "coding" ? "code" : "user";
}

/** What a profile is for; empty where nobody said. */
export function profileWords(info: ProfileInfo): string {
  return lookUp(`profile.${info.profile}.sub`) ?? info.description ?? "";
}
