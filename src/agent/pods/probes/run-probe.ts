import { connect } from "node:net";
import { formatGoDuration } from "../../../api/go-duration.ts";
import type { Container, Probe } from "../../../api/types/core-v1.ts";
import { authorityOf, dialErrorText } from "../../../client/dial-error.ts";
import { type Runtime, type RuntimeContainer, RuntimeError } from "../../runtime/runtime.ts";
import type { ProbeKind } from "../pod-view.ts";
import { runInContainer } from "../run-in-container.ts";
import { httpTarget, portNumber, requestTarget } from "./http-target.ts";
import type { ProbeOutcome } from "./probe-outcome.ts";

export interface ProbeRequest {
  readonly probe: Probe;
  readonly kind: ProbeKind;
  readonly container: Container;
  readonly run: RuntimeContainer;
  /** Primary address of the pod. */
  readonly address: string | undefined;
}

/**
 * Probes a container once.
 * @throws Error if the probe itself could not be carried out; it then counts neither as success nor as failure
 */
export async function runProbe(runtime: Pick<Runtime, "exec" | "probe">, request: ProbeRequest): Promise<ProbeOutcome> {
  const { probe, kind, container, run, address } = request;
  const answered = runtime.probe?.(run, kind);
  if (answered !== undefined) return { result: answered ? "success" : "failure", output: "" };
  const timeoutMs = (probe.timeoutSeconds ?? 1) * 1_000;
  const { exec, httpGet, tcpSocket, grpc } = probe;
  if (exec !== undefined) return execProbe(runtime, run, exec.command ?? [], timeoutMs);
  if (httpGet !== undefined) {
    const target = httpTarget(httpGet, container, address, "kube-probe");
    return httpProbe(() => requestTarget(target, timeoutMs));
  }
  if (address === undefined && !tcpSocket?.host) throw new Error("the pod has no address");
  if (tcpSocket !== undefined) {
    const place = { host: tcpSocket.host || (address ?? ""), port: portNumber(tcpSocket.port, container) };
    return tcpProbe(place, timeoutMs);
  }
  if (grpc !== undefined) {
    // gRPC costs memory, which agents without such a probe need not pay.
    const { grpcProbe } = await import("./grpc-probe.ts");
    return grpcProbe(authorityOf({ host: address ?? "", port: grpc.port }), grpc.service ?? "", timeoutMs);
  }
  throw new Error("missing probe handler");
}

async function execProbe(
  runtime: Pick<Runtime, "exec">,
  run: RuntimeContainer,
  command: readonly string[],
  timeoutMs: number,
): Promise<ProbeOutcome> {
  const signal = AbortSignal.timeout(timeoutMs);
  const timeoutSeconds = timeoutMs / 1_000;
  try {
    const { exitCode, output } = await runInContainer(runtime, run.id, command, { signal, timeoutSeconds });
    return { result: exitCode === 0 ? "success" : "failure", output };
  } catch (error) {
    const isLate = error instanceof RuntimeError && error.code === "DeadlineExceeded";
    if (!isLate && !signal.aborted) throw error;
    const limit = formatGoDuration(BigInt(timeoutMs) * 1_000_000n);
    return { result: "failure", output: `command timed out: "${command.join(" ")}" timed out after ${limit}` };
  }
}

async function httpProbe(request: () => Promise<{ readonly code: number }>): Promise<ProbeOutcome> {
  try {
    const { code } = await request();
    if (code >= 200 && code < 300) return { result: "success", output: "" };
    if (code >= 300 && code < 400) return { result: "warning", output: "Probe terminated redirects" };
    return { result: "failure", output: `HTTP probe failed with statuscode: ${code}` };
  } catch (error) {
    return { result: "failure", output: (error as Error).message };
  }
}

async function tcpProbe(place: { host: string; port: number }, timeoutMs: number): Promise<ProbeOutcome> {
  const { promise, resolve } = Promise.withResolvers<ProbeOutcome>();
  const socket = connect(place);
  socket.setTimeout(timeoutMs);
  socket.on("connect", () => resolve({ result: "success", output: "" }));
  socket.on("timeout", () => resolve({ result: "failure", output: `dial tcp ${authorityOf(place)}: i/o timeout` }));
  socket.on("error", (error) => resolve({ result: "failure", output: dialErrorText(error, place) }));
  const outcome = await promise;
  socket.destroy();
  return outcome;
}
