import type { Segment } from "pennymail";
import { api } from "../../data/client.ts";
import { DeleteDialog } from "../../parts/delete-dialog.tsx";

interface DeleteSegmentProps {
  /** The dialog is open while there is one. */
  segment: Segment | undefined;
  onClose(): void;
  onDeleted?(): unknown;
}

export function DeleteSegment({ segment, onClose, ...events }: DeleteSegmentProps) {
  return (
    <DeleteDialog
      noun="segment"
      target={segment}
      remove={({ id }, force) => api.segments.delete(id, force ? { force: "true" } : {})}
      refreshes={["segments"]}
      onClose={onClose}
      {...events}
    >
      The rules are deleted. The contacts stay. This cannot be undone.
    </DeleteDialog>
  );
}
