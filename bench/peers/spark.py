"""The Spark session of the peers: the tables of the warehouse are those of catalog w."""
import os

from pyspark.sql import SparkSession


def session(args, partitions, **more):
    """With `partitions` of a shuffle; more: further settings of the catalog. Also the id of the JVM's process."""
    b = (SparkSession.builder.master("local[%d]" % os.cpu_count())
         .config("spark.jars", args.jar)
         .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
         .config("spark.sql.catalog.w", "org.apache.iceberg.spark.SparkCatalog")
         .config("spark.sql.catalog.w.type", "hadoop")
         .config("spark.sql.catalog.w.warehouse", os.path.abspath(args.warehouse))
         .config("spark.sql.shuffle.partitions", partitions)
         .config("spark.ui.enabled", "false")
         .config("spark.driver.memory", args.memory))
    for key, value in more.items():
        b = b.config("spark.sql.catalog.w." + key.replace("_", "-"), value)
    spark = b.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark, spark._jvm.java.lang.ProcessHandle.current().pid()
