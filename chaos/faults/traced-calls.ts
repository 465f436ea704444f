import { readFileSync } from "node:fs";
import type { Member } from "../cluster/member.ts";
import type { Undo } from "./fault.ts";

const attachMsMax = 3_000;

/**
 * Changes system calls of a member with strace and its `--inject`: `fsync,fdatasync:error=EIO`. While it is active, every
 * call stops the process.
 */
export async function traceCalls(member: Member, injected: readonly string[]): Promise<Undo> {
  const { pid } = member;
  if (pid === undefined) return () => {};
  const names = injected.map((one) => one.split(":")[0]).join(",");
  const injections = injected.flatMap((one) => ["-e", `inject=${one}`]);
  const tracer = Bun.spawn(
    ["strace", "-f", "-qqq", "-o", "/dev/null", "-e", `trace=${names}`, ...injections, "-p", String(pid)],
    { stdin: "ignore", stdout: "ignore", stderr: "ignore" },
  );
  const deadlineMs = performance.now() + attachMsMax;
  while (!isTraced(pid) && tracer.exitCode === null && performance.now() < deadlineMs) await Bun.sleep(5);
  return async () => {
    tracer.kill("SIGTERM");
    await tracer.exited;
  };
}

function isTraced(pid: number): boolean {
  try {
    return !/^TracerPid:\s+0$/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
