import type { ReactNode } from "react";

/** In place of an empty list: what belongs there, and how to begin. */
export function EmptyState({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
