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
    if (finish)
      throw new StartupError("--finish: only the rotation of the API's authority has a second step: add --api");
    terminal.print(`the members now use a new authority: ${await rotatePeerAuthority(client, onProgress)}`);
  } else if (finish) {
    terminal.print(`the API now uses only this authority: ${await finishApiRotation(client, onProgress)}`);
  } else {
    terminal.print(`all members now trust the API's new authority: ${await beginApiRotation(client, onProgress)}`);
    terminal.complain('when clients have their new kubeconfigs, run "quorate cluster rotate-ca --api --finish"');
  }
  return 0;
}
