// The public object of an uploaded file.

export interface FileObject {
  readonly id: string;
  readonly object: 'file';
  /** This link alone gives access to the file. */
  readonly url: string;
  readonly kind: 'image' | 'video' | 'audio';
  readonly content_type: string;
  readonly bytes: number;
  /** In hexadecimal digits. */
  readonly sha256: string;
  readonly name: string | null;
  /** Seconds of a video, if its file says so. */
  readonly duration: number | null;
  /** Unix seconds, like `expires_at`. */
  readonly created_at: number;
  readonly expires_at: number;
}
