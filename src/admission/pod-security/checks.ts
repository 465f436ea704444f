import * as baseline from "./baseline.ts";
import type { LevelVersion } from "./policy.ts";
import * as restricted from "./restricted.ts";
import type { PodCheck, PodView, Violation } from "./violation.ts";

/** A rule with the minor version from which it holds. The newest one that is not too new applies. */
type Versions = readonly (readonly [sinceMinor: number, check: PodCheck])[];

const sysctlsFirst = [
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.ip_unprivileged_port_start",
  "net.ipv4.ping_group_range",
  "net.ipv4.tcp_syncookies",
];
const sysctls27 = [...sysctlsFirst, "net.ipv4.ip_local_reserved_ports"];
const sysctls29 = [
  ...sysctls27,
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
  "net.ipv4.tcp_keepalive_time",
];
const sysctls32 = [...sysctls29, "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"];
const seLinuxTypes = ["container_t", "container_init_t", "container_kvm_t"];

/** Rules of both levels, in the order of reporting. */
const common: readonly Versions[] = [
  [[0, baseline.appArmorProfile]],
  [[0, baseline.hostNamespaces]],
  [[0, baseline.hostPorts]],
  [[34, baseline.hostProbes]],
  [[0, baseline.privileged]],
  [
    [0, baseline.seLinuxOptions(seLinuxTypes)],
    [31, baseline.seLinuxOptions([...seLinuxTypes, "container_engine_t"])],
  ],
  [
    [0, baseline.sysctls(sysctlsFirst)],
    [27, baseline.sysctls(sysctls27)],
    [29, baseline.sysctls(sysctls29)],
    [32, baseline.sysctls(sysctls32)],
  ],
  [[0, baseline.windowsHostProcess]],
];

/** Rules of baseline that the restricted level replaces by stricter ones. */
const baselineOnly: readonly Versions[] = [
  [[0, baseline.capabilities]],
  [[0, baseline.hostPathVolumes]],
  [
    [0, baseline.procMount],
    [35, restricted.unlessOwnUsers(baseline.procMount)],
  ],
  [
    [0, baseline.seccompAnnotations],
    [19, baseline.seccompProfile],
  ],
];

const restrictedOnly: readonly Versions[] = [
  [
    [8, restricted.allowPrivilegeEscalation],
    [25, restricted.unlessWindows(restricted.allowPrivilegeEscalation)],
  ],
  [
    [0, baseline.capabilities],
    [22, restricted.capabilities],
    [25, restricted.unlessWindows(restricted.capabilities)],
  ],
  [[0, baseline.procMount]],
  [[0, restricted.volumes]],
  [
    [0, restricted.runAsNonRoot],
    [35, restricted.unlessOwnUsers(restricted.runAsNonRoot)],
  ],
  [
    [23, restricted.runAsUser],
    [35, restricted.unlessOwnUsers(restricted.runAsUser)],
  ],
  [
    [0, baseline.seccompAnnotations],
    [19, restricted.seccompProfile],
    [25, restricted.unlessWindows(restricted.seccompProfile)],
  ],
];

/** Returns every violation of the level as of that version. */
export function violations({ level, minor }: LevelVersion, pod: PodView): readonly Violation[] {
  if (level === "privileged") return [];
  const rules = [...common, ...(level === "baseline" ? baselineOnly : restrictedOnly)];
  return rules.flatMap((versions) => versions.findLast(([since]) => since <= minor)?.[1](pod) ?? []);
}

/** Formats violations: `privileged (container "c" must not set securityContext.privileged=true), …`. */
export function violationsText(found: readonly Violation[]): string {
  return found.map(({ reason, detail }) => (detail === "" ? reason : `${reason} (${detail})`)).join(", ");
}
