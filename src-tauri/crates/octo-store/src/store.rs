//! The handle: one writer thread, and a few read-only connections.

use crate::{
    OpenError, Reader, StoreError, Tx,
    open::{self, HomeLock},
    reader::SessionKeyCache,
};
use octo_protocol::Envelope;
use parking_lot::Mutex;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
        mpsc,
    },
    thread::JoinHandle,
};
use tokio::sync::{Semaphore, broadcast, oneshot};

/// The maximum number of concurrent reads. Each is short; more connections would only use more cache.
const MAX_READERS: usize = 4;

/// The number of envelopes a slow receiver of [`Store::published`] may fall behind before it gets a lag error.
const PUBLISHED_BACKLOG: usize = 4096;

/// The open database. Cheap to clone; all clones share it. It closes when the last clone is dropped, or earlier
/// by [`Store::close`].
#[derive(Clone)]
pub struct Store {
    inner: Arc<StoreInner>,
}

struct StoreInner {
    home: HomeLock,
    jobs: Mutex<Option<mpsc::Sender<WriteJob>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
    readers: Mutex<ReaderPool>,
    permits: Semaphore,
    published: broadcast::Sender<Arc<Envelope>>,
    /// The database's version as the writer last saw it. Its own writes do not change that number, so a
    /// different number means that another process wrote.
    version: AtomicI64,
}

#[derive(Default)]
struct ReaderPool {
    idle: Vec<PooledConnection>,
    closed: bool,
}

type WriteJob = Box<dyn FnOnce(&PooledConnection) + Send>;

/// A connection with its caches.
pub(crate) struct PooledConnection {
    pub(crate) connection: Connection,
    pub(crate) session_keys: SessionKeyCache,
}

/// Publishes the stored events.
fn publish<T>(
    outcome: Result<(T, Vec<Arc<Envelope>>), StoreError>,
    published: &broadcast::Sender<Arc<Envelope>>,
) -> Result<T, StoreError> {
    outcome.map(|(value, envelopes)| {
        for envelope in envelopes {
            // A missing receiver is no error.
            let _ = published.send(envelope);
        }
        value
    })
}

impl Store {
    /// Opens `<home>/octo.db`, creating the home and the file if missing, and migrates the file to this Octo's
    /// schema after a backup. Blocking: call it before the runtime is busy, or from `spawn_blocking`.
    ///
    /// # Errors
    ///
    /// See [`OpenError`]. Nothing that exists is ever reset or overwritten.
    pub fn open(home: &Path) -> Result<Self, OpenError> {
        Self::from_connection(open::open(home)?)
    }

    pub(crate) fn from_connection((home, connection): (HomeLock, Connection)) -> Result<Self, OpenError> {
        let version = data_version(&connection).map_err(|error| home.unavailable(error))?;
        let (jobs, queue) = mpsc::channel::<WriteJob>();
        let writer = std::thread::Builder::new()
            .name("octo-store".to_owned())
            .spawn(move || run_jobs(PooledConnection::new(connection), &queue))
            .map_err(|error| home.unavailable(error))?;
        Ok(Self {
            inner: Arc::new(StoreInner {
                home,
                jobs: Mutex::new(Some(jobs)),
                writer: Mutex::new(Some(writer)),
                readers: Mutex::default(),
                permits: Semaphore::new(MAX_READERS),
                published: broadcast::channel(PUBLISHED_BACKLOG).0,
                version: AtomicI64::new(version),
            }),
        })
    }

    /// Runs `work` in one transaction on the writer thread: all of it takes effect or, on failure, nothing.
    /// Writes run in the order of their calls. The events it emitted are published right after the commit. A
    /// requested write is finished even if this future is dropped.
    pub async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        let (reply, response) = oneshot::channel();
        self.enqueue(work, move |outcome| {
            let _ = reply.send(outcome);
        })?;
        self.mark_if_damaged(response.await.map_err(|_| StoreError::Closed)?)
    }

    /// Runs [`Store::write`] and makes it durable before returning, even over a power cut: for data that its
    /// source deletes once it is stored here. Costs a disk sync.
    ///
    /// # Errors
    ///
    /// Same as [`Store::write`].
    pub async fn write_through<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        let (reply, response) = oneshot::channel();
        let published = self.inner.published.clone();
        self.send_job(Box::new(move |pooled| {
            let outcome = pooled
                .connection
                .pragma_update(None, "synchronous", "FULL")
                .map_err(StoreError::from)
                .and_then(|()| transact(pooled, work));
            // Other writes have never waited for the disk: see `open`.
            if let Err(error) = pooled.connection.pragma_update(None, "synchronous", "NORMAL") {
                tracing::warn!(%error, "the database goes on syncing at every commit");
            }
            let _ = reply.send(publish(outcome, &published));
        }))?;
        self.mark_if_damaged(response.await.map_err(|_| StoreError::Closed)?)
    }

    /// Runs `work` on a read-only connection; all its reads are of one moment, and include everything written
    /// before the call.
    pub async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Reader<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        let _permit = self.inner.permits.acquire().await.map_err(|_| StoreError::Closed)?;
        let inner = Arc::clone(&self.inner);
        let outcome = tokio::task::spawn_blocking(move || {
            let pooled = inner.reader()?;
            let outcome = {
                let transaction = pooled.connection.unchecked_transaction()?;
                work(&Reader::new(&transaction, &pooled.session_keys))
            };
            inner.return_connection(pooled);
            outcome
        })
        .await
        .map_err(|error| StoreError::Failed(format!("a read ended early: {error}")))?;
        self.mark_if_damaged(outcome)
    }

    /// Returns the outcome, after marking the file for the next start if it reports damage.
    fn mark_if_damaged<T>(&self, outcome: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(StoreError::Damaged(_)) = &outcome {
            self.mark_suspect();
        }
        outcome
    }

    /// Returns the home that contains the database.
    pub(crate) fn home(&self) -> &Path {
        self.inner.home.folder()
    }

    /// Marks the file as suspected of damage: the next start reads it through.
    pub(crate) fn mark_suspect(&self) {
        self.inner.home.mark_suspect();
    }

    /// Runs [`Store::write`] on a thread that may block until the transaction is done. Must not be called on
    /// the runtime's own threads, on which other tasks depend; use `spawn_blocking`.
    ///
    /// # Errors
    ///
    /// Same as [`Store::write`].
    pub fn write_blocking<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        let (reply, response) = mpsc::sync_channel(1);
        self.enqueue(work, move |outcome| {
            let _ = reply.send(outcome);
        })?;
        self.mark_if_damaged(response.recv().map_err(|_| StoreError::Closed)?)
    }

    /// Runs [`Store::read`] on a thread that may block.
    ///
    /// # Errors
    ///
    /// Same as [`Store::read`].
    pub fn read_blocking<T>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let pooled = self.inner.reader()?;
        let outcome = pooled
            .connection
            .unchecked_transaction()
            .map_err(StoreError::from)
            .and_then(|transaction| work(&Reader::new(&transaction, &pooled.session_keys)));
        self.inner.return_connection(pooled);
        self.mark_if_damaged(outcome)
    }

    fn enqueue<T, F>(
        &self,
        work: F,
        respond: impl FnOnce(Result<T, StoreError>) + Send + 'static,
    ) -> Result<(), StoreError>
    where
        F: FnOnce(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        let published = self.inner.published.clone();
        self.send_job(Box::new(move |pooled| {
            // The caller may be gone; the write stays in effect.
            respond(publish(transact(pooled, work), &published));
        }))
    }

    fn send_job(&self, job: WriteJob) -> Result<(), StoreError> {
        match &*self.inner.jobs.lock() {
            Some(jobs) => jobs.send(job).map_err(|_| StoreError::Closed),
            None => Err(StoreError::Closed),
        }
    }

    /// Returns whether another process wrote since the last call, or since the file was opened. Its events were
    /// not published here: see [`Reader::events_since`]. Costs a read of shared memory.
    ///
    /// # Errors
    ///
    /// [`StoreError::Closed`], and file errors.
    pub async fn has_foreign_writes(&self) -> Result<bool, StoreError> {
        let (reply, response) = oneshot::channel();
        self.send_job(Box::new(move |pooled| {
            let _ = reply.send(data_version(&pooled.connection).map_err(StoreError::from));
        }))?;
        let version = self.mark_if_damaged(response.await.map_err(|_| StoreError::Closed)?)?;
        Ok(self.inner.version.swap(version, Ordering::Relaxed) != version)
    }

    /// Returns whether no other process has the database open, as of now. May wait for a process that is just
    /// opening it: not for the runtime's own threads.
    pub fn is_alone(&self) -> bool {
        self.inner.home.is_alone()
    }

    /// Returns all events from now on, of all topics, in the order in which this process committed them.
    pub fn published(&self) -> broadcast::Receiver<Arc<Envelope>> {
        self.inner.published.subscribe()
    }

    /// Finishes the requested writes, checkpoints the write-ahead log into the database and closes the file.
    /// Blocks until that is done. Later reads and writes fail with [`StoreError::Closed`].
    pub fn close(&self) {
        // Readers first: the last connection to close removes the log, and only the writer's can.
        self.inner.permits.close();
        {
            let mut readers = self.inner.readers.lock();
            readers.closed = true;
            readers.idle.clear();
        }
        drop(self.inner.jobs.lock().take());
        if let Some(writer) = self.inner.writer.lock().take()
            && writer.join().is_err()
        {
            tracing::error!("the writer thread panicked");
        }
    }
}

impl StoreInner {
    fn reader(&self) -> Result<PooledConnection, StoreError> {
        let mut readers = self.readers.lock();
        if readers.closed {
            return Err(StoreError::Closed);
        }
        match readers.idle.pop() {
            Some(pooled) => Ok(pooled),
            None => Ok(PooledConnection::new(open::read_only(&self.home.file())?)),
        }
    }

    fn return_connection(&self, pooled: PooledConnection) {
        let mut readers = self.readers.lock();
        // Blocking reads take no permit, so there may be more connections than are worth keeping.
        if !readers.closed && readers.idle.len() < MAX_READERS {
            readers.idle.push(pooled);
        }
    }
}

impl PooledConnection {
    fn new(connection: Connection) -> Self {
        // One slot per distinct statement of this crate, so each is compiled only once.
        connection.set_prepared_statement_cache_capacity(128);
        Self { connection, session_keys: SessionKeyCache::default() }
    }
}

fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}

fn run_jobs(pooled: PooledConnection, queue: &mpsc::Receiver<WriteJob>) {
    while let Ok(job) = queue.recv() {
        job(&pooled);
    }
    if let Err(error) = pooled.connection.pragma_update(None, "wal_checkpoint", "TRUNCATE") {
        // The log stays next to the file and the next start reads it: nothing is lost.
        tracing::warn!(%error, "the write-ahead log could not be moved into the database");
    }
}

type CommittedWrite<T> = (T, Vec<Arc<Envelope>>);

fn transact<T>(
    pooled: &PooledConnection,
    work: impl FnOnce(&mut Tx<'_>) -> Result<T, StoreError>,
) -> Result<CommittedWrite<T>, StoreError> {
    let outcome = catch_unwind(AssertUnwindSafe(|| -> Result<CommittedWrite<T>, StoreError> {
        let transaction = Transaction::new_unchecked(&pooled.connection, TransactionBehavior::Immediate)?;
        let mut tx = Tx::new(&transaction, &pooled.session_keys);
        let value = work(&mut tx)?;
        let envelopes = tx.into_envelopes();
        transaction.commit()?;
        Ok((value, envelopes))
    }))
    .unwrap_or_else(|_| Err(StoreError::Failed("a write panicked".to_owned())));
    if outcome.is_err() {
        // Do not remember a session that the rolled-back transaction created.
        pooled.session_keys.forget();
    }
    outcome
}
