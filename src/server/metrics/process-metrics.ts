import { readdirSync, readFileSync } from "node:fs";
import type { Registry } from "prom-client";
import { CollectedFamily } from "./bound-metric.ts";

/** The kernel's largest limit. It prints `unlimited` for it. */
const unlimited = 2 ** 64;

type Read = () => number | undefined;

/** Registers the usual metrics of a process. Values that the system does not provide are omitted. */
export function processMetrics(registry: Registry): void {
  const startSeconds = Date.now() / 1_000 - process.uptime();
  const families: readonly [name: string, help: string, type: "counter" | "gauge", read: Read][] = [
    ["cpu_seconds_total", "CPU time of the process in seconds.", "counter", cpuSeconds],
    ["start_time_seconds", "Start time of the process in seconds since the Unix epoch.", "gauge", () => startSeconds],
    ["resident_memory_bytes", "Resident memory of the process.", "gauge", () => process.memoryUsage.rss()],
    ["virtual_memory_bytes", "Virtual memory of the process.", "gauge", virtualBytes],
    ["virtual_memory_max_bytes", "Limit on virtual memory.", "gauge", () => limit("Max address space")],
    ["open_fds", "Open file descriptors.", "gauge", openFiles],
    ["max_fds", "Limit on open file descriptors.", "gauge", () => limit("Max open files")],
    ["network_receive_bytes_total", "Bytes received over the network.", "counter", () => octets("InOctets")],
    ["network_transmit_bytes_total", "Bytes sent over the network.", "counter", () => octets("OutOctets")],
  ];
  for (const [name, help, type, read] of families) {
    const samples = () => {
      const value = read();
      return value === undefined ? [] : [[{}, value] as const];
    };
    new CollectedFamily(`process_${name}`, help, type, samples).register(registry);
  }
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function virtualBytes(): number | undefined {
  const kilobytes = /^VmSize:\s+(\d+) kB$/m.exec(kernelText("status"))?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1_024;
}

function limit(name: string): number | undefined {
  const line = kernelText("limits")
    .split("\n")
    .find((one) => one.startsWith(name));
  const value = line?.slice(name.length).trim().split(/\s+/)[0];
  if (value === undefined) return undefined;
  return value === "unlimited" ? unlimited : Number(value);
}

function openFiles(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return undefined;
  }
}

/** Reads a counter from the kernel's two lines of names and values. */
function octets(name: string): number | undefined {
  const [names, values] = kernelText("net/netstat")
    .split("\n")
    .filter((line) => line.startsWith("IpExt:"))
    .map((line) => line.split(" "));
  const at = names?.indexOf(name) ?? -1;
  return at === -1 ? undefined : Number(values?.[at]);
}

/** Returns the text of a file about this process; "" if the system has none. */
function kernelText(name: string): string {
  try {
    return readFileSync(`/proc/self/${name}`, "utf8");
  } catch {
    return "";
  }
}
