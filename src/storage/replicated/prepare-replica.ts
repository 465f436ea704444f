import { DataDirectory } from "../mvcc/data-directory.ts";
import { DataDirectoryError } from "../mvcc/data-directory-error.ts";
import type { MemberIdentity } from "../mvcc/identity.ts";

/**
 * Assigns an empty directory to a member that joins a cluster. `openReplica` then takes the state from the others.
 * Repeating the call for the same member is harmless.
 * @throws DataDirectoryError if the directory is in use or already belongs to another member
 */
export async function prepareMember(directory: string, member: MemberIdentity): Promise<void> {
  const opened = await DataDirectory.open(directory, member);
  try {
    const { member: found, state } = opened.identity;
    if (found?.clusterId === member.clusterId && found.id === member.id && state === "new") return;
    throw new DataDirectoryError(directory, "it already holds a replica", "choose an empty directory");
  } finally {
    await opened.release();
  }
}
