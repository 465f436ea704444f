import type { ClusterClient } from "../../cluster/cluster-client.ts";
import { beginApiRotation, finishApiRotation, rotatePeerAuthority } from "../../cluster/rotate-authority.ts";
import { StartupError } from "../../process/startup-error.ts";
import type { Terminal } from "../terminal.ts";
import type { RotateCaOptions } from "./rotate-ca-options.ts";

/** `quorate cluster rotate-ca` */
export async function rotateCa(
  client: ClusterClient,
  { api, finish }: RotateCaOptions,
  terminal: Terminal,
): Promise<number> {
  const onProgress = (text: string) => terminal.complain(text);
  if (!api) {
    if (finish) throw new StartupError("--finish: only the authority of the API has a last part of its own: add --api");
    terminal.print(`the members know each other by a new authority: ${await rotatePeerAuthority(client, onProgress)}`);
  } else if (finish) {
    terminal.print(`the API is known by this authority alone: ${await finishApiRotation(client, onProgress)}`);
  } else {
    terminal.print(`the API gets a new authority, which is trusted now: ${await beginApiRotation(client, onProgress)}`);
    terminal.complain('when clients have their new kubeconfigs, go on with "quorate cluster rotate-ca --api --finish"');
  }
  return 0;
}
