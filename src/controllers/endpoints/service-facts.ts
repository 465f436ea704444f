import type { LabelSelector } from "../../api/label-selector.ts";
import { labelSelectorOf } from "../../api/label-selector-object.ts";
import type { Service } from "../../api/types/core-v1.ts";
import { type IpFamily, parseIp } from "../../api/validation/ip.ts";

/** Label of the endpoints of a service without an address. */
export const headlessLabel = "service.kubernetes.io/headless";

/** Returns the selector of the pods behind a service; undefined if its endpoints, if any, come from elsewhere. */
export function selectorOf(service: Service | undefined): LabelSelector | undefined {
  const { type, selector = {} } = service?.spec ?? {};
  return type === "ExternalName" || !hasSelector(service) ? undefined : labelSelectorOf({ matchLabels: selector });
}

export function hasSelector(service: Service | undefined): boolean {
  return Object.keys(service?.spec?.selector ?? {}).length > 0;
}

export function isHeadless({ spec: { clusterIP = "" } = {} }: Service): boolean {
  return clusterIP === "None" || clusterIP === "";
}

/** Returns the families of the service's addresses; none if they are undecided. */
export function familiesOf({ spec: { ipFamilies = [], clusterIP = "" } = {} }: Service): IpFamily[] {
  const named = ipFamilies.filter((family): family is IpFamily => family === "IPv4" || family === "IPv6");
  if (named.length > 0) return named;
  const own = parseIp(clusterIP);
  return own === undefined ? [] : [own.family];
}
