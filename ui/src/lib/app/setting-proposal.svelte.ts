/** The setting the agent proposed and the person has not answered. A proposal changes nothing. */
import type { Proposal } from "$lib/state/settings-command";

class SettingProposal {
  now = $state.raw<Proposal | null>(null);
}

export const settingProposal = new SettingProposal();
