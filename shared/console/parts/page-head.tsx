import type { ReactNode } from "react";

interface PageHeadProps {
  title: string;
  note?: ReactNode;
  /** Buttons at the right. */
  children?: ReactNode;
}

export function PageHead({ title, note, children }: PageHeadProps) {
  return (
    <header className="page-head">
      <div>
        <h1>{title}</h1>
        {note && <p>{note}</p>}
      </div>
      <div className="actions">{children}</div>
    </header>
  );
}
