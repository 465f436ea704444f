import { StartupError } from "../../process/startup-error.ts";
import { type EtcdEndpoint, parseEndpoints } from "../../storage/etcd/client/etcd-endpoint.ts";

const flag = "--etcd-servers-overrides";

/**
 * Reads the flag for resources with an etcd of their own. Returns the endpoints of the one for Events; undefined without
 * overrides. The form is upstream's: `group/resource#servers`, with semicolons between the servers.
 * @throws StartupError also for other resources: their objects guard each other's writes, so they share an etcd
 */
export function eventEndpointsOf(overrides: readonly string[]): readonly EtcdEndpoint[] | undefined {
  const [found, again] = overrides.map(parseOverride);
  if (again !== undefined) throw new StartupError(`${flag}: the servers of /events are given twice: give them once`);
  return found;
}

function parseOverride(override: string): readonly EtcdEndpoint[] {
  const [place = "", servers = "", ...more] = override.split("#");
  const urls = servers.split(";");
  if (more.length > 0 || place.split("/").length !== 2 || urls.includes("")) {
    throw new StartupError(
      `${flag} invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated`,
    );
  }
  if (place !== "/events") {
    throw new StartupError(
      `${flag}: only Events can be in an etcd of their own: keep ${place} in the etcd of --etcd-servers, and give ` +
        `/events#${servers} to move the Events`,
    );
  }
  return parseEndpoints(urls, flag);
}
