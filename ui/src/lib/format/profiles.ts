/** Profiles as text: Octo's own from the catalogue, the person's by their name and the first line of their prompt. */
import type { IconName } from "$lib/icons";
import type { ProfileInfo } from "$lib/ipc/types";
import { lookUp } from "$lib/words/words.svelte";

/** Returns the name of a profile. */
export function profileName(profile: string): string {
  return lookUp(`profile.${profile}`) ?? profile;
}

/** Returns the icon of a profile; null for the general one. */
export function profileIcon(profile: string): IconName | null {
  if (profile === "general") return null;
  return profile === "coding" ? "code" : "user";
}

/** Describes a profile; empty without a description. */
export function profileWords(info: ProfileInfo): string {
  return lookUp(`profile.${info.profile}.sub`) ?? info.description ?? "";
}
