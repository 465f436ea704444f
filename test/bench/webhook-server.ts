import { TlsService } from "../integration/tls-service.ts";
import { percentile } from "./report.ts";

/**
 * A webhook in its own process, so that its CPU is not the server's: it takes a millisecond and allows everything. Paths
 * that begin with `/hang` get no answer. `/seen` tells what has happened since the last time. Prints one line of JSON when
 * it serves.
 */
const hookMs = 1;
let seen: number[] = [];
let hanging = 0;

const service = new TlsService(async (request) => {
  const startedMs = performance.now();
  const { pathname } = new URL(request.url);
  if (pathname === "/seen") {
    const answer = { hanging, p50Ms: percentile(seen, 0.5), p99Ms: percentile(seen, 0.99) };
    [seen, hanging] = [[], 0];
    return Response.json(answer);
  }
  const { apiVersion, request: asked } = (await request.json()) as { apiVersion: string; request: { uid: string } };
  if (pathname.startsWith("/hang")) {
    hanging++;
    return new Promise<Response>(() => undefined);
  }
  await Bun.sleep(hookMs);
  const response = Response.json({ apiVersion, kind: "AdmissionReview", response: { uid: asked.uid, allowed: true } });
  seen.push(performance.now() - startedMs);
  return response;
});
process.stdout.write(`${JSON.stringify({ url: service.url, ca: service.ca })}\n`);
