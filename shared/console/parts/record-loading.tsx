import { Button, Skeleton } from "@mantine/core";
import { Link, type LinkProps } from "@tanstack/react-router";
import { NotFoundError } from "pennymail";
import { t } from "../language/translate.ts";
import { EmptyState } from "./empty-state.tsx";
import { ErrorNote } from "./error-note.tsx";

interface RecordLoadingProps {
  /** "This campaign does not exist" */
  missing: string;
  /** The screen that lists all records of the kind, and the words that lead to it. */
  list: { to: NonNullable<LinkProps["to"]>; label: string };
  error: unknown;
}

/** In place of the screen of a record while it loads, and when it cannot be loaded. */
export function RecordLoading({ missing, list, error }: RecordLoadingProps) {
  if (error instanceof NotFoundError)
    return (
      <div className="page">
        <EmptyState title={missing}>
          <p>{t("It may have been deleted, or the address is mistyped.")}</p>
          <Button component={Link} to={list.to} variant="default">
            {list.label}
          </Button>
        </EmptyState>
      </div>
    );
  return <div className="page">{error ? <ErrorNote error={error} /> : <Skeleton h={240} />}</div>;
}
