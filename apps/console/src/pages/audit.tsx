import { PageHead } from '../ui/parts';

/** The page `audit`. */
export default function Page() {
  return <PageHead title="audit" />;
}
